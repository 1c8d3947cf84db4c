package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp"
	"gatehouse/core"
	"gatehouse/core/tool"
)

// namesOf gives the names of a server's tools, as a registry has them.
func namesOf(all []tool.Tool) (names []string) {
	for _, t := range all {
		names = append(names, t.Name)
	}
	return names
}

// remembered are pins in which this server's list is stored.
func remembered(t *testing.T, entry mcp.Server) (*pins, []string) {
	t.Helper()
	p := &pins{}
	t.Run("a first start", func(t *testing.T) {
		if r := run(t, mcp.Options{Pins: p}, entry); len(r.Tools()) == 0 {
			t.Fatalf("it has no tools: %s", r.log)
		}
	})
	r := mcp.New(mcp.Options{Config: mcp.Config{Servers: []mcp.Server{entry}}, Pins: p})
	return p, namesOf(r.Tools())
}

// The tools that a server listed last are there before it runs, for as long as it is away; a call waits for it, and
// then fails with its name.
func TestTheToolsListedLastAreThereBeforeTheServerRuns(t *testing.T) {
	t.Parallel()
	p, before := remembered(t, process(t, "plain"))
	if !slices.Contains(before, "files.echo") {
		t.Fatalf("from the store come %v", before)
	}
	r := run(t, mcp.Impatient(mcp.Hasty(mcp.Options{Pins: p})), process(t, "silent"))
	if now := namesOf(r.Tools()); !slices.Equal(now, before) {
		t.Errorf("while it is silent it has %v", now)
	}
	if r.get("files.echo").Mutating != r.get("files.write").Mutating {
		t.Error("a tool of the store is judged in another way")
	}
	_, err := r.call("files.echo", `{}`)
	if core.CategoryOf(err) != core.ToolFailed ||
		!strings.Contains(core.MessageOf(err), "The MCP server files is not running: ") {
		t.Errorf("a call gives %v", err)
	}
}

// A call of a tool that is there from the store waits until the server runs.
func TestACallWaitsForItsServer(t *testing.T) {
	t.Parallel()
	p, _ := remembered(t, process(t, "plain"))
	servers := mcp.New(
		mcp.Quick(mcp.Options{Config: mcp.Config{Servers: []mcp.Server{process(t, "plain")}}, Pins: p}))
	i := slices.IndexFunc(servers.Tools(), func(one tool.Tool) bool { return one.Name == "files.echo" })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- servers.Run(ctx) }()
	text, err := servers.Tools()[i].Do(t.Context(), "", []byte(`{"a":1}`))
	if err != nil || text != `{"a":1}` {
		t.Errorf("%q, %v", text, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Another command, address or list of arguments under the same name is another server.
func TestTheToolsOfAnotherEntryAreNotThere(t *testing.T) {
	t.Parallel()
	entry := process(t, "plain")
	p, _ := remembered(t, entry)
	for name, change := range map[string]func(*mcp.Server){
		"command":   func(s *mcp.Server) { s.Command = "/no/such" },
		"arguments": func(s *mcp.Server) { s.Args = []string{"-v"} },
		"folder":    func(s *mcp.Server) { s.Dir = "/" },
		"address":   func(s *mcp.Server) { s.URL = "http://127.0.0.1:1/" },
	} {
		other := entry
		change(&other)
		r := mcp.New(mcp.Options{Config: mcp.Config{Servers: []mcp.Server{other}}, Pins: p})
		if all := r.Tools(); len(all) > 0 {
			t.Errorf("with another %s it has %v", name, namesOf(all))
		}
	}
}

// A stored list that is damaged, or that another process is storing now, is none.
func TestADamagedListIsNone(t *testing.T) {
	t.Parallel()
	entry := process(t, "plain")
	p, _ := remembered(t, entry)
	for name, value := range map[string]string{"mcp.list/files": "2 x", "mcp.list/files/0": "H4sIAAAA"} {
		kept := p.kept[name]
		p.kept[name] = value
		if all := mcp.New(
			mcp.Options{Config: mcp.Config{Servers: []mcp.Server{entry}}, Pins: p}).Tools(); kept == "" ||
			len(all) > 0 {
			t.Errorf("with another %s (before %.20s) it has %v", name, kept, namesOf(all))
		}
		p.kept[name] = kept
	}
}

// A list of many pieces comes back whole; one that holds a secret of the entry is not stored.
func TestWhatIsStoredOfAList(t *testing.T) {
	t.Parallel()
	describe := func(n int) string { // hardly to be packed
		var b strings.Builder
		for i := range 4_000 {
			b.WriteRune(rune(0x4e00 + (i*7919+n*104729)%20_000))
		}
		return b.String()
	}
	for name, more := range map[string]string{"many pieces": "", "a secret": " xoxb-secret-of-the-entry-12345"} {
		server := sdk.NewServer(&sdk.Implementation{Name: "many"}, nil)
		for n := range 60 {
			server.AddTool(
				&sdk.Tool{
					Name: "t" + strings.Repeat("x", n), Description: describe(n) + more,
					InputSchema: map[string]any{"type": "object"},
				}, nil)
		}
		h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
		t.Cleanup(h.Close)
		p, all := remembered(t,
			mcp.Server{
				Name: "many", URL: h.URL,
				Headers: map[string]string{"Authorization": "Bearer xoxb-secret-of-the-entry-12345"},
			})
		if want := map[string]int{"": 60}[more]; len(all) != want {
			t.Errorf("%s: %d tools come back", name, len(all))
		}
		if more == "" && p.kept["mcp.list/many/2"] == "" {
			t.Errorf("it has few pieces: %d values", len(p.kept))
		}
	}
}

// A configuration that is put in force while the servers run: an entry that is as before goes on with the same process,
// a new one starts, and one that is gone has no tools any more and ends after its calls.
func TestAnotherConfigurationIsPutInForce(t *testing.T) {
	t.Parallel()
	path, said := notes(t)
	kept := process(t, "plain", "NOTES", path)
	leaving := process(t, "plain", "NOTES", path)
	leaving.Name = "leaving"
	r := run(t, mcp.Options{}, kept, leaving)
	gone := r.get("leaving.write")
	waiting := r.get("leaving.wait")
	calling, hangUp := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := waiting.Do(calling, "a1", []byte(`{}`))
		ended <- err
	}()
	r.await("said=waiting", 1)
	coming := process(t, "plain", "NOTES", path)
	coming.Name = "coming"
	r.Use(mcp.Config{Servers: []mcp.Server{kept, coming}})
	if _, still := r.registry.Get("leaving.write"); still {
		t.Error("a removed server has tools")
	}
	if _, err := gone.Do(t.Context(), "a2", []byte(`{}`)); !strings.Contains(core.MessageOf(err),
		"leaving.write is gone") {
		t.Errorf("a call of a removed server's tool gives %v", err)
	}
	r.await("the MCP server runs", 3)
	if text, err := r.call("files.write", `{}`); err != nil || text != "written" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := r.call("coming.write", `{}`); err != nil || text != "written" {
		t.Errorf("%q, %v", text, err)
	}
	if strings.Contains(r.log.String(), "it is ended") {
		t.Error("a server was ended although a call of it runs")
	}
	hangUp()
	if err := <-ended; err == nil {
		t.Error("a call that was given up has a result")
	}
	r.await("it is ended", 1)
	if n := strings.Count(r.log.String(), "the MCP server runs"); n != 3 {
		t.Errorf("servers started %d times", n)
	}
	if up := r.Up(); len(up) != 2 || !up["files"] || !up["coming"] {
		t.Errorf("now there are %v", up)
	}
	if strings.Count(said(), "write") != 2 {
		t.Errorf("what ran: %s", said())
	}
}

// A call that was approved before a restart waits for the first list of its server, where none is stored.
func TestASourceIsAwaited(t *testing.T) {
	t.Parallel()
	servers := mcp.New(mcp.Quick(mcp.Options{Config: mcp.Config{Servers: []mcp.Server{process(t, "plain")}}}))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	ended := make(chan error)
	go func() { ended <- servers.Run(ctx) }()
	servers.Await(ctx, "files.echo")
	if _, ok := tool.NewRegistry().With(servers).Get("files.echo"); !ok {
		t.Error("the tool is not there")
	}
	servers.Await(ctx, "other.echo") // which is nobody's
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
