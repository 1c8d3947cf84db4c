//go:build mutants

package tool_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutants are the executor with one of its checks taken out. The tests must notice each.
var mutants = map[string]struct{ file, from, to string }{
	"without the approval check": {
		"executor.go", `if a.State != core.Approved {`, `if false {`},
	"with the arguments unchecked": {
		"executor.go", `if digest != asked || call.Name != a.Call.Tool {`, `if digest+asked == "" {`},
	"with changed arguments unchecked": {
		"executor.go", `if approved != a.Call.Digest {`, `if approved == "" {`},
	"with any tool run again": {
		"executor.go", `&& t.Do != nil, t.Idempotent && closed == nil:`, `&& t.Do != nil, closed == nil:`},
	"with a tool run again under other rules": {
		"executor.go", `&& t.Do != nil, t.Idempotent && closed == nil:`, `&& t.Do != nil, t.Idempotent:`},
	"with what was kept forgotten": {
		"executor.go", `&& t.Do != nil, t.Idempotent && closed == nil:`,
		`&& t.Do == nil, t.Idempotent && closed == nil:`},
	"with an answer to an earlier question": {
		"rounds.go", `answer.Of != typestate.Digest(before)`, `answer.Of == ""`},
	"with the key of each attempt": {
		"executor.go", `actKey(a.ID)`, `fmt.Sprintf("%p", &call)`},
	"with the policy unchecked": {
		"../typestate/ready.go",
		`when(now.PolicyDigest == "" || n.CallSpec.MutationPolicyDigest != now.PolicyDigest, PolicyMismatch),`, ``},
	"with an open prefix": {
		"../typestate/ready.go", `		closureClasses(r, in),`, ``},
	"with missing linkage": {
		"../typestate/ready.go",
		`when(len(n.SessionRefs) == 0 || len(n.TrajectoryRefs) == 0 || strings.TrimSpace(now.WitnessRef) == "",
			EvidenceMissing),`, ``},
}

const mutantKey = "TEST_MUTANT" // set in the runs that this test starts

func TestLaw5_TheTestsFailWithoutEachCheck(t *testing.T) {
	if os.Getenv(mutantKey) != "" {
		return // a run started by this test
	}
	for name, m := range mutants {
		t.Run(name, func(t *testing.T) {
			file, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(text), m.from) != 1 {
				t.Fatalf("%s does not hold the check once: %s", m.file, m.from)
			}
			changed := strings.Replace(string(text), m.from, m.to, 1)
			if !strings.Contains(changed, "strings.") { // the check was the import's only use
				changed = strings.Replace(changed, "\t\"strings\"\n", "", 1)
			}
			out, err := runMutant(t, file, changed)
			if err == nil {
				t.Error("no test fails")
			} else if !strings.Contains(out, "--- FAIL") {
				t.Errorf("it did not come to the tests: %s", out)
			}
		})
	}
}

// runMutant runs the tests of the gate with a file's text replaced.
func runMutant(t *testing.T, file, text string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{mutant: []byte(text), overlay: list} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "test", "-vet=off", "-overlay", overlay, "gatehouse/core/tool", "gatehouse/core/agent",
		"gatehouse/core/typestate")
	cmd.Env = append(os.Environ(), mutantKey+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
