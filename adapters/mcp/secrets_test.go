package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp"
	"gatehouse/core"
)

// saying is a server that says a text wherever one can be said, by the tools say, fail and refuse.
func saying(text string) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "says " + text, Version: text}, nil)
	quoted := base64.StdEncoding.EncodeToString([]byte("user:"+text)) + " " + url.QueryEscape(text) +
		" " + fmt.Sprintf("%q", text)
	words := make([]any, 0)
	for word := range strings.FieldsSeq(text) {
		words = append(words, word)
	}
	schema := map[string]any{
		"type": "object", "title": text,
		"properties": map[string]any{"a": map[string]any{
			"type": "string", "description": text, "default": text, "enum": words, "examples": words,
		}},
	}
	add := func(name string, do sdk.ToolHandler) {
		s.AddTool(
			&sdk.Tool{Name: name, Title: text, Description: name + " " + text + " " + quoted, InputSchema: schema}, do)
	}
	result := func(failed bool) *sdk.CallToolResult {
		return &sdk.CallToolResult{IsError: failed, Content: []sdk.Content{
			&sdk.TextContent{Text: text}, &sdk.TextContent{Text: quoted},
			&sdk.ResourceLink{Name: text, URI: "file:///" + url.PathEscape(text)},
		}, StructuredContent: map[string]any{text: map[string]any{"words": words}}}
	}
	add("say", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return result(false), nil })
	add("fail", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return result(true), nil })
	add("refuse", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New(text)
	})
	return s
}

// sayAll is a process that says its environment and its arguments.
func sayAll() {
	all := strings.Join(os.Args[1:], "\n") + "\n" + strings.Join(os.Environ(), "\n")
	for line := range strings.Lines(all) {
		fmt.Fprint(os.Stderr, line)
	}
	fmt.Fprintln(os.Stderr)
	fmt.Println("no message, but", strings.ReplaceAll(all, "\n", " "))
	_ = saying(all).Run(context.Background(), &sdk.StdioTransport{}) // it ends with its input
}

// echoing serves what a request has in its headers and address, as a server that says it.
func echoing(t *testing.T) string {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var all strings.Builder
		all.WriteString(r.URL.String() + " " + r.URL.Path + " " + r.URL.RawQuery)
		for name, values := range r.Header {
			all.WriteString(" " + name + "=" + values[0])
		}
		server := saying(all.String())
		sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
			return server
		}, &sdk.StreamableHTTPOptions{Stateless: true}).ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h.URL
}

// parse reads the entry of the one server of an mcp.json, which it must have.
func parse(t *testing.T, entry map[string]any, lookup map[string]string) (mcp.Server, []string) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"files": entry}})
	if err != nil {
		t.Fatal(err)
	}
	cfg, faults := mcp.Parse(text, func(name string) (string, bool) { value, ok := lookup[name]; return value, ok })
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return cfg.Servers[0], cfg.Warnings
}

// told is all that models and people can read of a server: its tools and what their calls say, its report and the log.
// results is what the calls say.
func (r *running) told() (all, results string) {
	r.t.Helper()
	for _, name := range []string{"files.say", "files.fail", "files.refuse"} {
		text, err := r.call(name, `{}`)
		if err != nil {
			text += err.Error() + core.MessageOf(err)
		}
		one := r.get(name)
		all += one.Description + string(one.Schema) + one.Summarize(nil)
		results += text
	}
	report, err := json.Marshal(r.Report())
	if err != nil {
		r.t.Fatal(err)
	}
	return all + results + string(report) + r.log.String(), results
}

// TestWhatOfAnEntryIsHidden gives each case of fixtures/field/mcp/secrets.json to a real server that says all of it.
func TestWhatOfAnEntryIsHidden(t *testing.T) {
	t.Parallel()
	fixtures := os.Getenv("GATEHOUSE_FIXTURES")
	if fixtures == "" {
		t.Skip("SKIPPED: no entry of a report was read. Set GATEHOUSE_FIXTURES to the folder that holds field/mcp.")
	}
	text, err := os.ReadFile(filepath.Join(fixtures, "field/mcp/secrets.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Env, Headers  map[string]any
		URL           string
		Hidden, Shown []string
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	for i, c := range cases {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			entry := map[string]any{
				"url": echoing(t) + strings.TrimPrefix(c.URL, "https://mcp.example.net"), "headers": c.Headers,
			}
			if c.Env != nil {
				c.Env["TEST_SERVER"] = "saying"
				entry = map[string]any{"command": self(t), "env": c.Env}
			}
			server, _ := parse(t, entry, nil)
			all, results := run(t, mcp.Options{}, server).told()
			for _, secret := range c.Hidden {
				if strings.Contains(all, secret) {
					t.Errorf("%s is shown: %s", secret, all)
				}
			}
			for _, word := range c.Shown {
				if !strings.Contains(results, word) {
					t.Errorf("%s is hidden: %s", word, results)
				}
			}
		})
	}
}

// TestLaw8_NoSecretOfAnEntryIsTold: no mark of a secret of any name or shape is in what models or people read, wherever
// the server says it.
func TestLaw8_NoSecretOfAnEntryIsTold(t *testing.T) {
	t.Parallel()
	marks := 0
	mark := func() string { marks++; return fmt.Sprintf("mark%02dof-them", marks) }
	lookup := map[string]string{"VAULT_TOKEN": mark(), "PLAIN": mark()}
	basic := base64.StdEncoding.EncodeToString([]byte("ops:" + mark()))
	process, _ := parse(t, map[string]any{
		"command": self(t),
		"args": []string{
			"--token=" + mark(), "--api-key", mark(), "-H", "Authorization: Bearer " + mark(),
			"https://h.example/s?key=" + mark(), "--vault", "${VAULT_TOKEN}",
		},
		"env": map[string]string{
			"TEST_SERVER": "saying", "API_TOKEN": mark(), "PGPASSWORD": mark(), "SMTP_PASS": `"` + mark() + `&</>é`,
			"SIGNING_KEY": mark(), "MY_SECRET_2": mark(), "CLIENT_SECRET": "x${PLAIN}",
			"DATABASE_URL": "postgres://app:" + mark() + "@db.example/app",
			"CONNECTION":   "Server=db;Password=" + mark() + ";Timeout=5",
			"HEADERS_JSON": `{"X-Api-Key": "` + mark() + `", "Version": "7"}`,
			"PIN":          "z9-q", "SERVICE": "sk_live_4f9Aq2Zx81LmPq77",
			"HOOK":        "https://hooks.example/services/T1/qT7bLmZx9RkWvYpN3cHd",
			"PRIVATE_KEY": "-----BEGIN PRIVATE KEY-----\n" + mark() + "\n-----END PRIVATE KEY-----",
			"PROXY":       mark(), "DEPLOY_ENV": "production",
		},
		"secret": []string{"PROXY"},
	}, lookup)
	endpoint, _ := parse(t, map[string]any{
		"url": echoing(t) + "/eu-west-1/s/" + "7d3f0a9e-1b2c-4d5e-8f60-" + "a1b2c3d4e5f6" + "/token/" + mark() +
			"/sk_live_4f9Aq2Zx81LmPq77/mcp?key=" + mark() + "&sig=" + url.QueryEscape(mark()+"+/=") +
			"&access_token=" + mark() + "&region=north",
		"headers": map[string]string{
			"Authorization": "Bearer " + mark(), "Proxy-Authorization": "Basic " + basic, "X-Api-Key": mark(),
			"Cookie": "theme=dark; session=" + mark(), "X-Auth-Token": mark(), "X-Up": "Bearer " + mark(),
			"X-Env": "answer",
		},
	}, lookup)
	if marks < 20 {
		t.Fatalf("only %d marks", marks)
	}
	for name, server := range map[string]mcp.Server{"a process": process, "an endpoint": endpoint} {
		r := run(t, mcp.Options{}, server)
		all, results := r.told()
		for _, secret := range []string{
			"of-them", "z9-q", "4f9Aq2Zx81LmPq77", "qT7bLmZx9RkWvYpN3cHd", "7d3f0a9e", basic,
		} {
			if at := strings.Index(all, secret); at >= 0 {
				t.Errorf("%s: %s is shown: %s", name, secret, all[max(0, at-300):min(len(all), at+100)])
			}
		}
		for n := range marks {
			for before := range 3 {
				inBase64 := base64.StdEncoding.EncodeToString(
					[]byte(strings.Repeat("x", before) + fmt.Sprintf("mark%02dof-them", n+1)))
				if strings.Contains(all, inBase64[4:16]) {
					t.Errorf("%s: mark %d is shown in base64", name, n+1)
				}
			}
		}
		want := "production"
		if server.URL != "" {
			want = "eu-west-1"
		}
		if !strings.Contains(results, want) {
			t.Errorf("%s: %s is hidden: %s", name, want, results)
		}
	}
}

// TestAnAdminCorrectsWhatIsHidden by names of variables and headers, and by parts of the URL.
func TestAnAdminCorrectsWhatIsHidden(t *testing.T) {
	t.Parallel()
	entry := map[string]any{
		"url":     echoing(t) + "/team-blue/550e8400-e29b-41d4-a716-446655440000/mcp",
		"headers": map[string]string{"X-Tenant": "acme-works", "X-Sort-Token": "ascending", "X-Other": "${REGION}"},
		"secret":  []string{"team-blue", "x-tenant", "REGION", "X-Tennant"},
		"public":  []string{"X-Sort-Token", "550e8400-e29b-41d4-a716-446655440000", "sk_live_4f9Aq2Zx81LmPq77"},
	}
	server, warnings := parse(t, entry, map[string]string{"REGION": "north-pole"})
	r := run(t, mcp.Options{}, server)
	all, results := r.told()
	for _, secret := range []string{"team-blue", "acme-works", "north-pole"} {
		if strings.Contains(all, secret) {
			t.Errorf("%s is shown: %s", secret, all)
		}
	}
	for _, word := range []string{"ascending", "550e8400-e29b-41d4-a716-446655440000"} {
		if !strings.Contains(results, word) {
			t.Errorf("%s is hidden: %s", word, results)
		}
	}
	want := []mcp.Value{
		{"header X-Other", mcp.Hidden}, {"header X-Sort-Token", mcp.Shown}, {"header X-Tenant", mcp.Hidden},
		{"URL segment 1", mcp.Hidden}, {"URL segment 2", mcp.Shown}, {"URL segment 3", mcp.Shown},
	}
	if diff := cmp.Diff(want, r.Report()[0].Values); diff != "" {
		t.Error(diff)
	}
	wantWarnings := []string{
		`line 1: server "files": "X-Tennant" in "secret" is the name of no variable or header of it, and no part ` +
			`of its URL; correct or remove it`,
		`line 1: server "files": "••••••" in "public" is the name of no variable or header of it, and no part of ` +
			`its URL; correct or remove it`,
	}
	if diff := cmp.Diff(wantWarnings, warnings); diff != "" {
		t.Error(diff)
	}
	_, faults := mcp.Parse(
		[]byte(`{"mcpServers": {"files": {"command": "x", "env": {"A": "b"}, "secret": ["A"], "public": ["A"]}}}`),
		variables)
	if len(faults) != 1 ||
		!strings.Contains(faults[0], `"A" is in "secret" and in "public"; remove it from one of them`) {
		t.Error(faults)
	}
}

// TestTheFirstStartTellsWhatIsShownNow, and no later one.
func TestTheFirstStartTellsWhatIsShownNow(t *testing.T) {
	t.Parallel()
	entry := map[string]any{
		"command": self(t),
		"env": map[string]string{
			"TEST_SERVER": "plain", "JIRA_URL": "https://acme.example.net", "API_TOKEN": "correct-horse",
			"MODE": "fast", "CREDENTIALS": "/keys/gcp.json",
		},
	}
	server, _ := parse(t, entry, nil)
	kept := &pins{}
	first := run(t, mcp.Options{Pins: kept}, server).log.String()
	if !strings.Contains(first, `level=WARN`) || strings.Count(first, "earlier versions hid") != 2 ||
		!strings.Contains(first, "env CREDENTIALS") ||
		!strings.Contains(first, `value="env JIRA_URL" add="\"secret\": [\"JIRA_URL\"]"`) {
		t.Errorf("the first start says\n%s", first)
	}
	if second := run(t, mcp.Options{Pins: kept}, server).log.String(); strings.Contains(first,
		"acme.example.net") || strings.Contains(second, "earlier versions") {
		t.Errorf("the second start says\n%s", second)
	}
}
