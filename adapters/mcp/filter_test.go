package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp"
	"gatehouse/core"
)

// serving serves tools of these names over HTTP, two on a page of the list.
func serving(t *testing.T, names ...string) string {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, &sdk.ServerOptions{PageSize: 2})
	for _, name := range names {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, nil)
	}
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(h.Close)
	return h.URL
}

// TestAFilterOffersSomeToolsOnly: a tool that is filtered can't be called, and a pattern that matches none is told.
func TestAFilterOffersSomeToolsOnly(t *testing.T) {
	all := []string{"read_file", "read_all", "write_file", "notes/list", "drop table", "日本"}
	for name, c := range map[string]struct {
		filter mcp.Filter
		offers string
		idle   string
	}{
		"none": {mcp.Filter{}, "_cf2abf0c drop_table notes_list read_all read_file write_file", ""},
		"allow": {
			mcp.Filter{Allow: []string{"read_*", "send_*"}, Only: true}, "read_all read_file",
			`there is none that "send_*" in "tools" matches`,
		},
		"nothing": {mcp.Filter{Only: true}, "", ""},
		"deny": {
			mcp.Filter{Deny: []string{"*file", "x"}}, "_cf2abf0c drop_table notes_list read_all",
			`there is none that "x" in "tools" matches`,
		},
		"deny wins": {mcp.Filter{
			Allow: []string{"read_all", "write_file"}, Only: true, Deny: []string{"write_*"},
		}, "read_all", ""},
		"the names here": {
			mcp.Filter{Allow: []string{"notes_list"}, Only: true, Deny: []string{"drop_table"}}, "notes_list", "",
		},
		"a star and a slash": {
			mcp.Filter{Deny: []string{"*list", "drop*"}}, "_cf2abf0c read_all read_file write_file", "",
		},
		"a name made here":    {mcp.Filter{Allow: []string{"_cf2abf0c"}, Only: true}, "_cf2abf0c", ""},
		"a name and a digest": {mcp.Filter{Allow: []string{"read_all@0123456789ab"}, Only: true}, "read_all", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, mcp.Options{}, mcp.Server{Name: "notes", URL: serving(t, all...), Filter: c.filter})
			var got []string
			for _, one := range r.Tools() {
				got = append(got, strings.TrimPrefix(one.Name, "notes."))
			}
			if slices.Sort(got); strings.Join(got, " ") != c.offers {
				t.Errorf("offered are %q", got)
			}
			var idle []string
			for _, warning := range r.Report()[0].Warnings {
				if strings.Contains(warning, `"tools"`) {
					idle = append(idle, warning)
				}
			}
			if strings.Join(idle, ";") != c.idle ||
				c.idle != "" && !strings.Contains(r.log.String(), strings.ReplaceAll(c.idle, `"`, `\"`)) {
				t.Errorf("told is %q; the log:\n%s", idle, r.log)
			}
			for _, name := range all {
				call := core.ToolCall{
					Name:      "notes." + strings.NewReplacer("/", "_", " ", "_", "日本", "_cf2abf0c").Replace(name),
					Arguments: []byte(`{}`),
				}
				_, err := r.registry.Find(call)
				if offered := slices.Contains(got, strings.TrimPrefix(call.Name, "notes.")); offered != (err == nil) ||
					!offered && core.CategoryOf(err) != core.ToolUnknown {
					t.Errorf("a call of %s: %v", name, err)
				}
			}
		})
	}
}

// TestAFilteredListIsNotCut: only the tools that are offered count for the limit of a list.
func TestAFilteredListIsNotCut(t *testing.T) {
	entry := process(t, "many")
	entry.Filter = mcp.Filter{Allow: []string{"tool299"}, Only: true}
	r := run(t, mcp.Options{}, entry)
	if got := r.Tools(); len(got) != 1 || got[0].Name != "files.tool299" {
		t.Errorf("offered are %v", got)
	}
}

// TestAStoredListIsFiltered: a tool that is denied since the list was stored is not offered while the server has not
// given another.
func TestAStoredListIsFiltered(t *testing.T) {
	kept := &pins{}
	entry := mcp.Server{Name: "notes", URL: serving(t, "list", "drop")}
	if got := run(t, mcp.Options{Pins: kept}, entry).Tools(); len(got) != 2 {
		t.Fatalf("offered are %v", got)
	}
	entry.Filter = mcp.Filter{Deny: []string{"drop"}}
	if got := mcp.New(
		mcp.Options{Config: mcp.Config{Servers: []mcp.Server{entry}}, Pins: kept}).Tools(); len(got) != 1 ||
		got[0].Name != "notes.list" {
		t.Errorf("offered are %v", got)
	}
}

// TestLaw5_AnnotationsOfAnotherDefinitionSayNothing: what a server says of a tool reaches the policy as it was when it
// was first seen, or confirmed.
func TestLaw5_AnnotationsOfAnotherDefinitionSayNothing(t *testing.T) {
	schema := t.TempDir() + "/schema"
	define := func(text string) {
		if err := os.WriteFile(schema, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	define(`{"type":"object"}`)
	path, _ := notes(t)
	entry := process(t, "shifty", "SCHEMA", schema, "NOTES", path)
	kept := &pins{}
	says := core.Annotations{ReadOnly: true, Additive: true}
	var confirm string
	check := func(name string, entry mcp.Server, want core.Annotations, pin mcp.Pin) {
		t.Run(name, func(t *testing.T) {
			r := run(t, mcp.Options{Pins: kept}, entry)
			one := r.get("files.read_all")
			if one.Annotations != want || !one.Mutating {
				t.Errorf("they are %+v", one.Annotations)
			}
			if got := r.get("files.read_none"); got.Annotations != (core.Annotations{}) || got.Risk != core.Dangerous {
				t.Errorf("of one that destroys: %+v", got.Annotations)
			}
			for _, one := range r.Report()[0].Tools {
				if one.Name == "files.read_all" {
					confirm = one.Confirm
					if one.Pin != pin || len(one.Digest) != 64 {
						t.Errorf("the pin is %+v", one)
					}
				}
			}
		})
	}
	check("first", entry, says, mcp.FirstSeen)
	check("again", entry, says, mcp.FirstSeen)
	define(`{"type":"object","properties":{"all":{"type":"boolean"}}}`)
	check("changed", entry, core.Annotations{}, mcp.Differs)
	entry.Filter = mcp.Filter{Allow: []string{"*", confirm}, Only: true}
	check("confirmed", entry, says, mcp.Confirmed)
	kept.err = os.ErrDeadlineExceeded
	entry.Filter = mcp.Filter{}
	check("no store", entry, core.Annotations{}, mcp.Unknown)
}

// TestLaw5_AToolThatDestroyedDestroysUntilItIsConfirmed: a server that takes back what it said, on a later day, lowers
// no risk.
func TestLaw5_AToolThatDestroyedDestroysUntilItIsConfirmed(t *testing.T) {
	t.Parallel()
	kept := &pins{}
	for _, c := range []struct {
		name    string
		hint    bool
		confirm bool
		want    core.Risk
	}{
		{"first", true, false, core.Dangerous}, {"taken back", false, false, core.Dangerous},
		{"again", false, false, core.Dangerous}, {"confirmed", false, true, core.Ordinary},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, nil)
			server.AddTool(
				&sdk.Tool{
					Name: "wipe", InputSchema: map[string]any{"type": "object"},
					Annotations: &sdk.ToolAnnotations{DestructiveHint: &c.hint},
				}, nil)
			h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
				return server
			}, nil))
			t.Cleanup(h.Close)
			entry := mcp.Server{Name: "files", URL: h.URL}
			r := run(t, mcp.Options{Pins: kept}, entry)
			if c.confirm {
				entry.Filter = mcp.Filter{Allow: []string{r.Report()[0].Tools[0].Confirm}, Only: true}
				r = run(t, mcp.Options{Pins: kept}, entry)
			}
			if got := r.get("files.wipe").Risk; got != c.want {
				t.Errorf("its risk is %v", got)
			}
		})
	}
}
