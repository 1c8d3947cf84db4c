package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// fits reports whether a text fits a pattern, as an argument of a call.
func fits(t *testing.T, pattern, text string) bool {
	t.Helper()
	schema, _ := json.Marshal(
		map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"pattern": pattern}}})
	args, _ := json.Marshal(map[string]any{"a": text})
	one, err := tool.Tool{Name: "a.b", Schema: schema, Do: nothing}.Prepare()
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	_, err = tool.NewRegistry(one).Find(core.ToolCall{Name: "a.b", Arguments: args})
	if err != nil && !strings.Contains(core.MessageOf(err), "schema: a: ") {
		t.Errorf("%s, %.20q: %v", pattern, text, err)
	}
	return err == nil
}

func TestPatternsMeanWhatECMA262Says(t *testing.T) {
	for _, c := range []struct{ pattern, yes, no string }{
		{`^https?:\/\/\S+$`, "https://a.b/c", "https://a b"},
		{`^\S+$`, "\u200b", "a\u00a0b"},
		{`^[\s]$`, "\ufeff", "x"},
		{`^[^\S]$`, "\u2003", "x"},
		{`^.$`, "\u0085", "\u2028"},
		{`^[.]$`, ".", "a"},
		{`^\cA[\cb]$`, "\x01\x02", "AB"},
		{`^\u0041\x42\u{43}\uD83D\uDE00$`, "ABC😀", "ABC"},
		{`^[\uD83D\uDE00-\u{1F64F}]$`, "😃", "a"},
		{`^[a[b]$`, "[", "c"},
		{`^[[:alpha:]]$`, "h]", "z"},
		{`^[a-zA-Z0-9@#%^&*()_+\-=[\]{}|;:,.<>?~` + "`" + `]*$`, "a[b]{c}", "a b"},
		{`^[^]$`, "\n", ""},
		{`^(?:a|[])$`, "a", "b"},
		{`^[\b]$`, "\b", "b"},
		{`^[\w-.]+$`, "a-b.c", "a b"},
		{`^[+--]$`, ",", "."},
		{`^a{`, "a{", "a"},
		{`^\@\'\_\é\0$`, "@'_é\x00", "x"},
		{`^(?<year>\d{4})-(?:\d\d)$`, "2026-11", "26-11"},
		{`^\p{L}\p{Script=Greek}\P{Lu}$`, "ñγ1", "1γA"},
		{`^a*?b+?$`, "aab", "a"},
		{`^x.{0,1200}$`, "x" + strings.Repeat("y", 1200), "x" + strings.Repeat("y", 1201)},
		{`^x(?:a){1100,1101}?y$`, "x" + strings.Repeat("a", 1101) + "y", "x" + strings.Repeat("a", 1099) + "y"},
		{`^xa{1001,}$`, "x" + strings.Repeat("a", 1500), "x" + strings.Repeat("a", 1000)},
		{`^.{0,5000}$`, strings.Repeat("ü", 5000), strings.Repeat("ü", 5001)},
		{`^[^<\]]{1,100000}$`, strings.Repeat("y", 50_000), "<"},
		{`^\d{2000}$`, strings.Repeat("7", 2000), strings.Repeat("7", 2001)},
		{`^\w{2000,}$`, strings.Repeat("7", 20_000), strings.Repeat("7", 1999)},
		{`(?i)^abc\z`, "ABC", "abcd"}, // as Go, Python and Rust have it
		{`\A(?P<a>b)`, "b", "ab"},
	} {
		if !fits(t, c.pattern, c.yes) || fits(t, c.pattern, c.no) {
			t.Errorf("%s: %.20q %t, %.20q %t", c.pattern, c.yes, fits(t, c.pattern, c.yes), c.no,
				fits(t, c.pattern, c.no))
		}
	}
}

func TestPatternsThatCanNotBeMatched(t *testing.T) {
	for _, pattern := range []string{
		`^(?!a)`, `a(?=b)`, `(?<=a)b`, `(?<!a)b`, `^(['"]).*\1$`, `(?<q>a)\k<q>`, `\12`, `\uD83D`, `a{,5}`, `a{3,1}`,
		`[b-a]`, `(`, `)`, `[a`, `a**`, `\u12`,
		`^.{0,5000}a$.{0,99999}b{9999}`, strings.Repeat(`(?:a{1,999}){1,999}`, 2),
	} {
		if size, err := tool.PatternSize(pattern); err == nil {
			t.Errorf("%s: %d", pattern, size)
		}
	}
}

// FuzzPattern: whatever a pattern is, it is read soon, and its translation is one that Go takes.
func FuzzPattern(f *testing.F) {
	for _, seed := range []string{`^[\w-.]+\uD83D\uDE00{1,2000}$`, `(?<a>b){5000}`, `^.{1,99999}$`, `[^]\cA\0`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		if len(pattern) > 1000 {
			return
		}
		if size, err := tool.PatternSize(pattern); err == nil && size <= tool.MaxPatterns &&
			json.Valid([]byte(`"`+pattern+`"`)) {
			schema, _ := json.Marshal(
				map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"pattern": pattern}}})
			if err := (tool.Tool{Name: "a.b", Schema: schema, Do: nothing}).Validate(); err != nil {
				t.Errorf("%q: %v", pattern, err)
			}
		}
	})
}
