package memory

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTheLowestLimitOfTheGroupsCounts, of either version, inside and outside of a container.
func TestTheLowestLimitOfTheGroupsCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		groups string
		limits map[string]string
		want   int64
	}{
		"none":             {"0::/\n", nil, 0},
		"no groups":        {"", nil, 0},
		"max":              {"0::/\n", map[string]string{"memory.max": "max\n"}, 0},
		"a container":      {"0::/\n", map[string]string{"memory.max": "536870912\n"}, 512 << 20},
		"seen from inside": {"0::/docker/abc\n", map[string]string{"memory.max": "1048576\n"}, 1 << 20},
		"a service": {
			"0::/system.slice/gatehouse.service\n", map[string]string{
				"system.slice/gatehouse.service/memory.max": "2097152", "system.slice/memory.max": "1048576",
				"memory.max": "max",
			}, 1 << 20,
		},
		"version 1": {
			"5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n", map[string]string{
				"memory/x/memory.limit_in_bytes": "3145728\n", "memory/memory.limit_in_bytes": "9223372036854771712\n",
			}, 3 << 20,
		},
		"no text of a number": {"0::/\nsomething\n", map[string]string{"memory.max": "much"}, 0},
	} {
		root := t.TempDir()
		write := func(name, text string) {
			t.Helper()
			name = filepath.Join(root, name)
			err := os.MkdirAll(filepath.Dir(name), 0o755)
			if err == nil {
				err = os.WriteFile(name, []byte(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		write("groups", tc.groups)
		for file, text := range tc.limits {
			write(filepath.Join("fs", file), text)
		}
		if got := limit(filepath.Join(root, "groups"), filepath.Join(root, "fs")); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
