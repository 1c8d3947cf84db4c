package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// promptFolder makes a folder of prompts with three versions of the system prompt.
func promptFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	noErr(t, os.Mkdir(filepath.Join(dir, "system"), 0o700))
	for name, text := range map[string]string{
		"1.md": "You are old.\n",
		"2.md": "---\nlabels: [production]\nsampling: {temperature: 0.25, max_tokens: 77, stop_sequences: " +
			"[END]}\n---\nYou work on {{ platform }}.\n",
		"3.md": "---\nlabels: [staging]\n---\nYou are new.\n",
	} {
		noErr(t, os.WriteFile(filepath.Join(dir, "system", name), []byte(text), 0o600))
	}
	return dir
}

// TestTheSystemPromptOfAFolder: the version in production is what the model is told, it samples as that version says,
// and the spans of its calls name the version.
func TestTheSystemPromptOfAFolder(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		var got spans
		server := httptest.NewServer(&got)
		defer server.Close()
		env := []string{
			"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20abc",
			"GATEHOUSE_SYSTEM_PROMPT_FILE=" + promptFolder(t),
		}
		for key, value := range v.env {
			env = append(env, key+"="+value)
		}
		v.Then(v.say("Hello."))
		c := newWorkbench(t, env...).start(nil, "chat")
		c.typeLine("hi")
		c.ok(t)
		for _, want := range []string{"You work on console.", `"temperature":0.25`, `"max_tokens":77`, `["END"]`} {
			if !strings.Contains(v.lastBody(), want) {
				t.Errorf("%s is not in the request %s", want, v.lastBody())
			}
		}
		call := got.segment(t)["invocation/model/llm.complete"]
		for key, want := range map[string]string{
			"name": "system", "version": "2", "label": "production", "template_hash": "sha256:",
			"rendered_hash": "sha256:",
		} {
			if value := attr(call, "openarmature.prompt."+key); !strings.HasPrefix(value, want) {
				t.Errorf("the span has %s %q, want %s", key, value, want)
			}
		}
		if attr(call, "openarmature.prompt.template_hash") == attr(call, "openarmature.prompt.rendered_hash") {
			t.Error("the hashes of the template and of the messages are the same")
		}
	})
}
