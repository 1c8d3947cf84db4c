package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/core"
)

func TestWhatAServerSaysHoldsNoSecretsOfItsEntry(t *testing.T) {
	const fromEnv, fromHeader, fromURL = "s3cr3t-of-env", "s3cr3t-of-header", "s3cr3t of url"
	s := newServer(Server{
		Name: "files", URL: "https://example.com/mcp?key=s3cr3t%20of+url", Env: map[string]string{"A": fromEnv}, Headers: map[string]string{"Authorization": "Bearer " + fromHeader},
	}, Options{Log: New(Options{}).log})
	all := fromEnv + " " + fromHeader + " " + fromURL
	clean := func(what, text string) {
		t.Helper()
		if strings.Contains(text, "s3cr3t") || !strings.Contains(text, core.Masked) {
			t.Errorf("%s: …%s", what, text[max(0, len(text)-200):])
		}
	}
	text := func(value string) []sdk.Content { return []sdk.Content{&sdk.TextContent{Text: value}} }
	for name, r := range map[string]*sdk.CallToolResult{
		"a text":      {Content: text(all)},
		"one cut":     {Content: text(all + strings.Repeat("x", maxResult-6-len(s.hide(all))) + fromEnv)},
		"an error":    {Content: text(all), IsError: true},
		"a cut error": {Content: text(all + strings.Repeat("x", maxFailure-6-len(s.hide(all))) + fromEnv), IsError: true},
		"structure":   {StructuredContent: map[string]any{"a": all}},
		"a resource":  {Content: []sdk.Content{&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: strings.Repeat("x", 990) + fromEnv, Text: all}}}},
		"a link":      {Content: []sdk.Content{&sdk.ResourceLink{Name: all, URI: all}}},
	} {
		got, err := s.content("files.a", r)
		if err != nil {
			got = core.MessageOf(err)
		}
		clean(name, got)
	}
	d, err := define(&sdk.Tool{
		Name: "a", Description: all + strings.Repeat("x", maxDescription-6-len(s.hide(all))) + fromEnv,
		InputSchema: map[string]any{"type": "object", "description": all},
	}, s.hide)
	if err != nil {
		t.Fatal(err)
	}
	clean("a description", d.description)
	clean("a schema", string(d.schema))
	_, err = define(&sdk.Tool{Name: "a", InputSchema: map[string]any{"$ref": strings.Repeat("x", 95) + fromEnv, "description": all}}, func(text string) string { return core.Masked + s.hide(text) })
	clean("a fault", err.Error())
	var found listing
	for _, name := range []string{"/" + fromEnv, strings.Repeat("x", 95) + fromEnv} {
		found = listing{}
		found.known = map[string]definition{}
		s.add(t.Context(), &found, &sdk.Tool{Name: name + strings.Repeat("y", maxName)}, nil)
		if got := strings.Join(found.warnings, ""); strings.Contains(got, "s3cr3t") || got == "" {
			t.Errorf("a warning: %s", got)
		}
	}
}

func TestAFolderThatAServerIsGivenIsNoSecret(t *testing.T) {
	folder := t.TempDir()
	s := newServer(Server{Name: "files", Env: map[string]string{"ROOT": folder, "TOKEN": folder + "-not-there"}}, Options{Log: New(Options{}).log})
	if got := s.hide(folder + "/a.txt"); got != folder+"/a.txt" {
		t.Errorf("got %s", got)
	}
	if got := s.hide(folder + "-not-there"); strings.Contains(got, folder) {
		t.Errorf("got %s", got)
	}
}
