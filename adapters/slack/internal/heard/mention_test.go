package heard_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/slack/internal/heard"
)

func isFor(text, id string) bool { return heard.Message{Text: text}.IsFor([]string{id}) }

func TestCutMention(t *testing.T) {
	for in, want := range map[string]struct {
		rest      string
		mentioned bool
	}{
		"<@B1> do it":               {"do it", true},
		"<@B1|bot>: do it":          {"do it", true},
		" <@B1> <@B1>, \n do <@B1>": {"do <@B1>", true},
		"do it, <@B1|bot>":          {"do it, <@B1|bot>", true},
		"<@B12> do it":              {"<@B12> do it", false},
		"<@B1":                      {"<@B1", false},
		"<@B1|":                     {"<@B1|", false},
		"&lt;@B1&gt;":               {"&lt;@B1&gt;", false},
		"<@B1>":                     {"", true},
	} {
		rest, mentioned := heard.CutMention(in, "B1"), isFor(in, "B1")
		if rest != want.rest || mentioned != want.mentioned {
			t.Errorf("%q: %q, %v", in, rest, mentioned)
		}
	}
	rest, mentioned := heard.CutMention("<@> x", ""), isFor("<@> x", "")
	if rest != "<@> x" || mentioned {
		t.Errorf("without a bot: %q, %v", rest, mentioned)
	}
}

func FuzzAddressed(f *testing.F) {
	for _, s := range []string{"<@B1> x", "<@B1|b>:<@B1>", "x <@B1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rest, mentioned := heard.CutMention(text, "B1"), isFor(text, "B1")
		if again := heard.CutMention(rest, "B1"); again != rest {
			t.Errorf("%q: %q, then %q", text, rest, again)
		}
		if !strings.HasSuffix(strings.TrimSpace(text), rest) || !mentioned && rest != strings.TrimSpace(text) {
			t.Errorf("%q: %q, %v", text, rest, mentioned)
		}
	})
}
