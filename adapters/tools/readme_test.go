package tools_test

import (
	"os"
	"strings"
	"testing"
)

// The file of tools that README shows has no faults.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Write a tool\n")
	_, block, _ := strings.Cut(section, "```yaml\n")
	block, _, found := strings.Cut(block, "```")
	if all := load(t, block); !found || len(all) != 2 || all[0].Summarize([]byte(`{"amount":12,"customer":"cus_1"}`)) != "Refund 12 to cus_1" {
		t.Errorf("%+v", all)
	}
}
