package tools_test

import (
	"os"
	"strings"
	"testing"
)

// The files of tools that the page shows have no faults, and the first needs no variable and no host.
func TestReadme(t *testing.T) {
	for file, wants := range map[string][]string{
		"README.md": {"todo.list", "todo.list todo.add", "shop.refund shop.orders"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(string(text), "GATEHOUSE_TOOLS` names a YAML file")
		for _, want := range wants {
			_, rest, _ := strings.Cut(section, "```yaml\n")
			block, after, found := strings.Cut(rest, "```")
			section = after
			if strings.HasPrefix(want, "todo.list") && strings.Contains(block, "env:") {
				t.Errorf("the first example needs a variable: %s", block)
			}
			var names []string
			for _, one := range load(t, block) {
				names = append(names, one.Name)
				if one.Name == "shop.refund" &&
					one.Summarize([]byte(`{"amount":12,"customer":"cus_1"}`)) != "Refund 12 to cus_1" {
					t.Error("the summary differs")
				}
			}
			if got := strings.Join(names, " "); !found || got != want {
				t.Errorf("%s: got %q, want %q", file, got, want)
			}
		}
	}
}
