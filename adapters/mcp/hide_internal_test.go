package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp/internal/login"
	"gatehouse/core"
	"gatehouse/core/mask"
)

func TestWhatAServerSaysHoldsNoSecretsOfItsEntry(t *testing.T) {
	const fromEnv, fromHeader, fromURL = "s3cr3t-of-env", "s3cr3t-of-header", "s3cr3t of url"
	s := newServer(Server{
		Name: "files", URL: "https://example.com/mcp?key=s3cr3t%20of+url",
		Env:     map[string]string{"A_TOKEN": fromEnv, "PIN": "4711471147", "DB_PASSWORD": "h7nter2x"},
		Headers: map[string]string{"Authorization": "Bearer " + fromHeader},
	}, Options{Log: New(Options{}).options.Log})
	all := fromEnv + " " + fromHeader + " " + fromURL
	clean := func(what, text string) {
		t.Helper()
		if strings.Contains(text, "s3cr3t") || !strings.Contains(text, mask.Mark) {
			t.Errorf("%s: …%s", what, text[max(0, len(text)-200):])
		}
	}
	text := func(value string) []sdk.Content { return []sdk.Content{&sdk.TextContent{Text: value}} }
	for name, r := range map[string]*sdk.CallToolResult{
		"a text":   {Content: text(all)},
		"one cut":  {Content: text(all + strings.Repeat("x", maxResult-6-len(s.Hide(all))) + fromEnv)},
		"an error": {Content: text(all), IsError: true},
		"a cut error": {
			Content: text(all + strings.Repeat("x", maxFailure-6-len(s.Hide(all))) + fromEnv), IsError: true,
		},
		"structure": {StructuredContent: map[string]any{"a": all}},
		"a resource": {Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: strings.Repeat(
			"x", 990) + fromEnv, Text: all}}}},
		"a link": {Content: []sdk.Content{&sdk.ResourceLink{Name: all, URI: all}}},
	} {
		got, err := s.content(t.Context(), "files.a", r)
		if err != nil {
			got = core.MessageOf(err)
		}
		clean(name, got)
	}
	d, err := define(&sdk.Tool{
		Name: "a", Description: all + strings.Repeat("x", maxDescription-6-len(s.Hide(all))) + fromEnv,
		InputSchema: map[string]any{"type": "object", "description": all},
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	clean("a description", d.description)
	clean("a schema", string(d.schema))
	const values = `{"properties":{"default":{"type":"string"},
	"a":{"default":"SECRET","type":"string"},"b":{"enum":["x","SECRET"]},"c":{"const":{"a":"SECRET"}},
		"d":{"examples":["SECRET"],"pattern":"^SECRET$","items":{"x-note":["SECRET"],"description":"a"}},
		"e":{"default":4711471147}},"required":["a"]}`
	var schema map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(values, "SECRET", fromEnv)), &schema); err != nil {
		t.Fatal(err)
	}
	if d, err = define(&sdk.Tool{Name: "a", InputSchema: schema}, s); err != nil {
		t.Fatal(err)
	}
	if want := `{"properties":{"a":{"type":"string"},"b":{},"c":{},"d":{"items":{"description":"a"}},` +
		`"default":{"type":"string"},"e":{}},"required":["a"],"type":"object"}`; string(
		d.schema) != want {
		t.Errorf("values of a schema: %s", d.schema)
	}
	named := map[string]any{"properties": map[string]any{
		strings.Repeat("x", 80) + fromEnv: map[string]any{"$ref": "nowhere"},
	}}
	if d, err = define(&sdk.Tool{Name: "a", InputSchema: named}, s); err != nil {
		t.Fatal(err)
	}
	clean("what is left out", d.description)
	if n := testing.AllocsPerRun(10, func() { s.Hide("a word of a schema") }); n > 20 {
		t.Errorf("hiding makes the secrets' forms again for each text: %v allocations", n)
	}
	for _, name := range []string{"run-h7nter2x", fromEnv, "/" + fromEnv, strings.Repeat("x", 95) + fromEnv} {
		found := s.listingOf(t.Context(), []*sdk.Tool{{Name: name}})
		if got := strings.Join(found.warnings, ""); len(found.tools) > 0 || strings.Contains(got, "s3cr3t") ||
			got == "" {
			t.Errorf("a warning: %s", got)
		}
	}
}

func TestAFolderThatAServerIsGivenIsNoSecret(t *testing.T) {
	folder := t.TempDir()
	s := newServer(Server{Name: "files", Env: map[string]string{"ROOT": folder, "TOKEN": folder + "-not-there"}},
		Options{Log: New(Options{}).options.Log})
	if got := s.Hide(folder + "/a.txt"); got != folder+"/a.txt" {
		t.Errorf("got %s", got)
	}
	s = newServer(
		Server{
			Name: "files",
			Env: map[string]string{
				"GOOGLE_APPLICATION_CREDENTIALS": "/keys/gcp.json", "SSH_KEY": "~/.ssh/id_rsa",
				"A_KEY": `C:\keys\app.pem`, "B_KEY": "/keys/b.pem",
			}, Secret: []string{"B_KEY"},
		},
		Options{Log: New(Options{}).options.Log})
	if got, want := s.Hide(`/keys/gcp.json ~/.ssh/id_rsa C:\keys\app.pem /keys/b.pem`),
		`/keys/gcp.json ~/.ssh/id_rsa C:\keys\app.pem `+mask.Mark; got != want {
		t.Errorf("got %s", got)
	}
	s = newServer(Server{Name: "files", Env: map[string]string{"TOKEN": folder + "-not-there"}},
		Options{Log: New(Options{}).options.Log})
	if got := s.Hide(folder + "-not-there"); strings.Contains(got, folder) {
		t.Errorf("got %s", got)
	}
}

func TestAResultSaysNothingTwice(t *testing.T) {
	s := newServer(Server{Name: "files"}, Options{Log: New(Options{}).options.Log})
	image := &sdk.ImageContent{MIMEType: "image/png", Data: []byte("pixels")}
	text := func(all ...string) (parts []sdk.Content) {
		for _, one := range all {
			parts = append(parts, &sdk.TextContent{Text: one})
		}
		return parts
	}
	for name, c := range map[string]struct {
		parts      []sdk.Content
		structured string
		want       string
	}{
		"the text is its JSON":     {text(`{"a": [1]}`), `{"a":[1]}`, `{"a": [1]}`},
		"the text under a name":    {text("one line\n"), `{"content":"one line\n"}`, "one line\n"},
		"the JSON under a name":    {text(`[{"a":1}]`), `{"entities":[{"a":1}]}`, `[{"a":1}]`},
		"a number under a name":    {text("5"), `{"result":5}`, "5"},
		"a list of texts and JSON": {text("a", `{"b":1}`), `{"result":["a",{"b":1}]}`, "a\n{\"b\":1}"},
		"the parts under a name": {
			[]sdk.Content{image}, `{"content":[{"type":"image","mimeType":"image/png","data":"cGl4ZWxz"}]}`,
			"(an image, image/png, 6 bytes; it is not shown)",
		},
		"no text":                    {nil, `{"a":1}`, `{"a":1}`},
		"an empty list and no parts": {nil, `{"result":[]}`, `{"result":[]}`},
		"another text":               {text("Here:"), `{"content":"there"}`, "Here:\n{\"content\":\"there\"}"},
		"more than the text":         {text("5"), `{"result":5,"unit":"m"}`, "5\n{\"result\":5,\"unit\":\"m\"}"},
	} {
		var structured any
		if err := json.Unmarshal([]byte(c.structured), &structured); err != nil {
			t.Fatal(err)
		}
		got, err := s.content(t.Context(),
			"files.a", &sdk.CallToolResult{Content: c.parts, StructuredContent: structured})
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestALongResultIsCutInNoSecretOfTheLogin before it is hidden.
func TestALongResultIsCutInNoSecretOfTheLogin(t *testing.T) {
	s := newServer(Server{Name: "files"}, Options{Log: New(Options{}).options.Log})
	secret := strings.Repeat("s3cr3t-of-login/", 50)
	s.login = login.NewSource(login.Server{Client: login.Client{Secret: secret}}, nil, s.log)
	text := strings.Repeat(secret+" ", 4*maxResult/len(secret))
	for name, r := range map[string]*sdk.CallToolResult{
		"a text":    {Content: []sdk.Content{&sdk.TextContent{Text: text}}},
		"structure": {StructuredContent: map[string]any{"a": text}},
	} {
		got, err := s.content(t.Context(), "files.a", r)
		if err != nil || strings.Contains(got, "s3cr3t") {
			t.Errorf("%s: %v …%s", name, err, got[max(0, len(got)-200):])
		}
	}
}
