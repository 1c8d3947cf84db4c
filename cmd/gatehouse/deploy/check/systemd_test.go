package check

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// unit copies the unit, with a program that there is.
func unit(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../gatehouse.service")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "gatehouse.service")
	there := strings.ReplaceAll(string(text), "/usr/local/bin/gatehouse", program)
	if err := os.WriteFile(file, []byte(there), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestUnit: systemd finds no fault in the unit, and little that it could still do.
func TestUnit(t *testing.T) {
	file := unit(t)
	for _, args := range [][]string{
		{"verify", "--man=no", file},
		{"security", "--offline=yes", "--threshold=20", "--no-pager", file}, // tenths: 0 is nothing, 100 all
	} {
		told, err := exec.CommandContext(t.Context(), "systemd-analyze", args...).CombinedOutput()
		if err != nil || args[0] == "verify" && len(told) > 0 { // faults that it goes on with are only told
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, told)
		}
	}
}
