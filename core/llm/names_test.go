package llm_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/core/llm"
)

func requestOf(tools ...string) llm.Request {
	var r llm.Request
	for _, name := range tools {
		r.Tools = append(r.Tools, llm.Tool{Name: name})
	}
	return r
}

func TestNamesAreAdmittedOnTheWire(t *testing.T) {
	long := "server." + strings.Repeat("x", 80)
	for name, c := range map[string]struct {
		tools []string
		want  map[string]string
	}{
		"admitted already": {
			[]string{"get_weather", "a-B9"}, map[string]string{"get_weather": "get_weather", "a-B9": "a-B9"},
		},
		"a plugin's":       {[]string{"note.add"}, map[string]string{"note.add": "note__add"}},
		"other characters": {[]string{"wetter.größe"}, map[string]string{"wetter.größe": "wetter__gr__e"}},
		"taken by an admitted one": {
			[]string{"note.add", "note__add"},
			map[string]string{"note__add": "note__add", "note.add": "note__add_4daf464b43"},
		},
		"two of the same form": {
			[]string{"a.b", "a:_b"}, map[string]string{"a.b": "a__b_2ffd7d7b53", "a:_b": "a__b_8aa0c1dd2e"},
		},
		"too long": {[]string{long}, map[string]string{long: "server__" + strings.Repeat("x", 45) + "_e7cf3ef4f1"}},
	} {
		names := llm.NewNames(requestOf(c.tools...), 64)
		for ours, want := range c.want {
			wire := names.Wire(ours)
			if len(want) != len(wire) || !strings.HasPrefix(wire, strings.TrimRight(want, "0123456789abcdef")) ||
				names.Ours(wire) != ours {
				t.Errorf("%s: %q is %q on the wire, and back %q; want %q", name, ours, wire, names.Ours(wire), want)
			}
		}
	}
}

func TestNamesOfCallsInTheHistoryHaveTheirWayBack(t *testing.T) {
	r := requestOf("note.add")
	r.Messages = []core.Message{{
		Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: "1", Name: "gone.tool"}, {ID: "2", Name: "note__add"}},
	}}
	names := llm.NewNames(r, 64)
	if got := names.Wire("gone.tool"); got != "gone__tool" || names.Ours(got) != "gone.tool" {
		t.Errorf("gone.tool is %q", got)
	}
	if a, b := names.Wire("note.add"), names.Wire("note__add"); a == b || names.Ours(a) != "note.add" ||
		b != "note__add" {
		t.Errorf("note.add is %q, note__add is %q", a, b)
	}
	if got := names.Ours("invented.by_the_model"); got != "invented.by_the_model" {
		t.Errorf("an unknown name comes back as %q", got)
	}
}

// TestNamesNeverMeet: any names of a request are admitted on the wire, differ from each other, and have their way back,
// in any order.
func TestNamesNeverMeet(t *testing.T) {
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[ab._:é-]{1,6}`)
		names := rapid.SliceOfNDistinct(rapid.OneOf(part, rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(part.Draw(t, "part"), rapid.IntRange(1, 40).Draw(t, "times"))
		})), 1, 12, rapid.ID[string]).Draw(t, "names")
		for _, name := range names { // the names that others get are names too
			names = append(names, llm.NewNames(requestOf(name), 64).Wire(name),
				llm.NewNames(requestOf(names...), 64).Wire(name))
		}
		table := llm.NewNames(requestOf(names...), 64)
		again := llm.NewNames(requestOf(rapid.Permutation(names).Draw(t, "order")...), 64)
		taken := map[string]string{}
		for _, name := range names {
			wire := table.Wire(name)
			if other, is := taken[wire]; is && other != name || !valid.MatchString(wire) || table.Ours(wire) != name ||
				again.Wire(name) != wire {
				t.Fatalf("%q is %q on the wire; %q was too", name, wire, other)
			}
			if valid.MatchString(name) && wire != name {
				t.Fatalf("the admitted name %q became %q", name, wire)
			}
			taken[wire] = name
		}
	})
}
