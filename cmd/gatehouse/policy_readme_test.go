package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
)

// TestThePolicyOfTheReadmeWorks: the page begins with a policy that doctor has nothing against, and the table beside it
// is decided as it says.
func TestThePolicyOfTheReadmeWorks(t *testing.T) {
	blocks := map[string][]string{}
	for _, m := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(
		readFile("../../approvals/README.md"), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	if len(blocks["yaml"]) < 2 || len(blocks["sh"]) != 1 || len(blocks["text"]) != 1 {
		t.Fatalf("the blocks are %v", blocks)
	}
	w, dir := newProg(t), t.TempDir()
	for i, name := range []string{"policy.yaml", "policy-test.yaml"} {
		noErr(t, os.WriteFile(filepath.Join(dir, name), []byte(blocks["yaml"][i]), 0o600))
	}
	t.Chdir(dir)
	words := strings.Fields(blocks["sh"][0])
	if code, out, said := w.prog(nil, words[1:]...); code != cli.ExitDone || out != blocks["text"][0] || said != "" {
		t.Errorf("%q ends with %d: %s%s", words, code, out, said)
	}
	t.Setenv("GATEHOUSE_APPROVAL_POLICY", "policy.yaml")
	if code, out, _ := w.prog(nil, "doctor", "--quick"); code != cli.ExitDone ||
		regexp.MustCompile(`(?m)^(fail|warn) +policy`).MatchString(out) ||
		!strings.Contains(out, "policy.yaml is valid") {
		t.Errorf("doctor ends with %d: %s", code, out)
	}
}
