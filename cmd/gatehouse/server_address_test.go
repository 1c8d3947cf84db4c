package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWhichServerAClientAsks: --url, then GATEHOUSE_SERVER, then GATEHOUSE_URL, then GATEHOUSE_LISTEN; a path is kept.
func TestWhichServerAClientAsks(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.Error(w, "{}", http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	elsewhere := "http://127.0.0.1:1"
	for _, c := range []struct {
		env, args []string
		path      string
	}{
		{[]string{"GATEHOUSE_SERVER=" + elsewhere}, []string{"--url", server.URL + "/a/"}, "/a/v1/approvals/x"},
		{[]string{"GATEHOUSE_SERVER=" + server.URL + "/b", "GATEHOUSE_URL=" + elsewhere}, nil, "/b/v1/approvals/x"},
		{[]string{"GATEHOUSE_URL=" + server.URL + "/c", "GATEHOUSE_LISTEN=127.0.0.1:1"}, nil, "/c/v1/approvals/x"},
		{[]string{"GATEHOUSE_LISTEN=" + strings.TrimPrefix(server.URL, "http://")}, nil, "/v1/approvals/x"},
	} {
		w := newWorkbench(t)
		child := w.start(c.env, append([]string{"mcp"}, c.args...)...)
		child.typeLine(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
			`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
		child.typeLine(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		child.typeLine(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"check_approval",` +
			`"arguments":{"id":"x"}}}`)
		w.until("the request", child, func() bool { return len(asked) > 0 })
		if path := <-asked; path != c.path {
			t.Errorf("%q %q asks %s", c.env, c.args, path)
		}
		child.kill()
	}
}

// TestAWrongAddressHasAPage: for people, whoever they are; programs below /v1 are answered in JSON.
func TestAWrongAddressHasAPage(t *testing.T) {
	t.Parallel()
	p := newEngine(t, sqliteFile, []string{"ann!=" + annsToken})
	for _, c := range []struct {
		path, form, says, allow string
		status                  int
	}{
		{path: "/nothing", status: 404, says: `<a class="button" href="/approvals">To the approvals</a>`},
		{path: "/queue/nothing/at/all", status: 404, says: "There is no page at this address,"},
		{path: "/healthz", form: "a=b", status: 405, says: "can&#39;t be used in this way", allow: "GET"},
		{path: "/slack/nothing", status: 404, says: "There is no page at this address,"},
		{path: "/v1/nothing", status: 404, says: `{"error":{"code":"not_found"`},
		{path: "/v1/approvals", status: 405, says: `{"error":{"code":"method_not_allowed"`, allow: "POST"},
	} {
		r := answerOf(t, p.at+c.path, strings.Fields(c.form)...)
		if r.StatusCode != c.status || !strings.Contains(r.text, c.says) || r.Header.Get("Allow") != c.allow {
			t.Errorf("%s: %s, Allow %q, %s", c.path, r.Status, r.Header.Get("Allow"), r.text)
		}
	}
}

// TestTheStartSaysHowToLetAnybodyIn: on all interfaces, as in a container, without tokens.
func TestTheStartSaysHowToLetAnybodyIn(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "GATEHOUSE_LISTEN=0.0.0.0:0")
	c := w.start(nil, "serve")
	w.until("the start", c, func() bool { return strings.Contains(c.out.String(), "web chat: open") })
	if text := c.out.String(); !strings.Contains(text, "docker run -p 8080:8080 -e GATEHOUSE_TOKENS='you!=TOKEN'") {
		t.Errorf("it says %s", text)
	}
	c.kill()
}
