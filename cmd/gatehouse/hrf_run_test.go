package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/cmd/gatehouse/internal/cli"
)

// scriptCase is a case of running a script: an envelope, what it is given, and what is expected.
type scriptCase struct {
	Name     string
	Envelope json.RawMessage
	Input    json.RawMessage
	Tools    json.RawMessage
	LLM      struct{ Reply string }
	Expect   struct {
		ErrorCode  *string        `json:"error_code"`
		FinalText  *string        `json:"final_text"`
		Secrets    []string       `json:"final_text_must_not_contain"`
		ToolCalls  []scriptCall   `json:"tool_calls"`
		LLMCalls   *int           `json:"llm_calls"`
		Vars       map[string]any `json:"vars_subset"`
		Transcript [][2]string    `json:"llm_transcript"` // role and text
	}
}

// scriptRun is the JSON that gatehouse hrf run prints.
type scriptRun struct {
	FinalText string         `json:"final_text"`
	Vars      map[string]any `json:"vars"`
	ToolCalls []scriptCall   `json:"tool_calls"`
	LLMCalls  int            `json:"llm_calls"`
	Error     *struct {
		Code, Message string
		Details       any
	} `json:"error"`
	Trace []struct {
		Type     string
		Model    bool
		Messages []struct{ Role, Text string }
	} `json:"trace"`
}

type scriptCall struct {
	Recipient string         `json:"recipient"`
	Args      map[string]any `json:"args"`
}

// TestHRFAcceptance runs every case of the acceptance suite that executes a script.
func TestHRFAcceptance(t *testing.T) {
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no script of the acceptance suite was run. Set GATEHOUSE_FIXTURES to the folder that holds " +
			"hrf.")
	}
	var manifest struct{ Entries []struct{ File, Kind string } }
	readJSON(t, filepath.Join(root, "hrf", "manifest.json"), &manifest)
	ran := 0
	for _, entry := range manifest.Entries {
		if entry.Kind != "execute" {
			continue
		}
		ran++
		var e scriptCase
		readJSON(t, filepath.Join(root, "hrf", entry.File), &e)
		t.Run(entry.File, e.check)
	}
	if ran == 0 {
		t.Error("the suite holds no script")
	}
}

func (e scriptCase) check(t *testing.T) {
	out := e.run(t)
	want := e.Expect
	switch {
	case want.ErrorCode == nil && out.Error != nil:
		t.Fatalf("it failed: %+v", out.Error)
	case want.ErrorCode != nil && (out.Error == nil || out.Error.Code != *want.ErrorCode):
		t.Fatalf("error %+v, want %s", out.Error, *want.ErrorCode)
	}
	if want.FinalText != nil && out.FinalText != *want.FinalText {
		t.Errorf("it says %q, want %q", out.FinalText, *want.FinalText)
	}
	for _, secret := range want.Secrets {
		if strings.Contains(out.FinalText, secret) {
			t.Errorf("it says %q", secret)
		}
	}
	if want.ToolCalls != nil {
		if d := cmp.Diff(want.ToolCalls, out.ToolCalls); d != "" {
			t.Errorf("tool calls, - wanted + made:\n%s", d)
		}
	}
	if want.LLMCalls != nil && out.LLMCalls != *want.LLMCalls {
		t.Errorf("%d calls of the model, want %d", out.LLMCalls, *want.LLMCalls)
	}
	for name, value := range want.Vars {
		if got, ok := out.Vars[name]; !ok || !cmp.Equal(value, got) {
			t.Errorf("the variable %s is %v, want %v", name, got, value)
		}
	}
	if want.Transcript != nil {
		e.transcript(t, out)
	}
}

// run runs the command, which must end with 1 exactly if there is an error.
func (e scriptCase) run(t *testing.T) (out scriptRun) {
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		noErr(t, os.WriteFile(path, text, 0o600))
		return path
	}
	var stdout, stderr bytes.Buffer
	code := run(t.Context(),
		[]string{"hrf", "run", file("envelope.json", e.Envelope), "--json", "--llm-reply", e.LLM.Reply,
			"--input", file("input.json", e.Input), "--tools", file("tools.json", e.Tools)},
		cli.Stdio{Out: &stdout, Err: &stderr}, platforms)
	decodeJSON(t, stdout.Bytes(), &out)
	if want := map[bool]int{true: cli.ExitBad, false: cli.ExitDone}[out.Error != nil]; code != want ||
		stderr.Len() > 0 {
		t.Fatalf("exit code %d, want %d: %s", code, want, stderr.String())
	}
	return out
}

// transcript compares what the model was shown, up to the instruction for a summary.
func (e scriptCase) transcript(t *testing.T, out scriptRun) {
	for _, event := range out.Trace {
		if !event.Model {
			continue
		}
		shown := [][2]string{}
		for i, l := range event.Messages {
			if i < len(e.Expect.Transcript) || event.Type != "summary" {
				shown = append(shown, [2]string{l.Role, l.Text})
			}
		}
		if d := cmp.Diff(e.Expect.Transcript, shown); d != "" {
			t.Errorf("the model was shown, - wanted + shown:\n%s", d)
		}
	}
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	noErr(t, err)
	decodeJSON(t, text, into)
}

// decodeJSON keeps the digits of numbers.
func decodeJSON(t *testing.T, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
