package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/cmd/gatehouse/internal/cli"
)

// convert runs gatehouse hrf convert on a text.
func convert(t *testing.T, text, to string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), []string{"hrf", "convert", "--to", to, "-"},
		cli.Stdio{In: strings.NewReader(text), Out: &stdout, Err: &stderr}, platforms)
	return stdout.String(), stderr.String(), code
}

// TestHRFNativeVectors converts every text in the token form. The cases name plain text "text" and what is missing
// null; HRF leaves both out.
func TestHRFNativeVectors(t *testing.T) {
	root, vectors := hrfVectors(t, "native")
	for _, v := range vectors {
		t.Run(v.File, func(t *testing.T) {
			var c struct {
				Text   string
				Expect struct {
					Error    bool
					Messages []map[string]any
				}
			}
			readJSON(t, filepath.Join(root, v.File), &c)
			out, errs, code := convert(t, c.Text, "json")
			if c.Expect.Error {
				if code != cli.ExitBad || out != "" || errs == "" {
					t.Fatalf("exit %d, %q, %q", code, out, errs)
				}
				return
			}
			var got struct{ Messages []map[string]any }
			decodeJSON(t, []byte(out), &got)
			for _, m := range c.Expect.Messages {
				for key, v := range m {
					if v == nil || key == "contentType" && v == "text" {
						delete(m, key)
					}
				}
			}
			if diff := cmp.Diff(c.Expect.Messages, got.Messages); diff != "" || code != cli.ExitDone {
				t.Errorf("exit %d, %s\n%s", code, errs, diff)
			}
			again, errs, code := convert(t, out, "native")
			if code != cli.ExitDone {
				t.Fatalf("exit %d, %s", code, errs)
			}
			if third, _, _ := convert(t, again, "json"); third != out {
				t.Errorf("JSON becomes\n%s\nthen\n%s", again, third)
			}
		})
	}
}

// TestHRFEnvelopesSurviveTheTokenForm converts every valid envelope to the token form and back, unless it is refused.
func TestHRFEnvelopesSurviveTheTokenForm(t *testing.T) {
	root, vectors := hrfVectors(t, "validate")
	for _, v := range vectors {
		if !v.Valid {
			continue
		}
		t.Run(v.File, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, v.File))
			noErr(t, err)
			native, errs, code := convert(t, string(text), "native")
			if code != cli.ExitDone {
				if native != "" || !strings.Contains(errs, ": the token form can't hold ") {
					t.Errorf("exit %d, %q, %q", code, native, errs)
				}
				return
			}
			back, errs, code := convert(t, native, "json")
			if diff := cmp.Diff(withoutNulls(t, string(text)), withoutNulls(t, back)); diff != "" ||
				code != cli.ExitDone {
				t.Errorf("exit %d, %s\n%s", code, errs, diff)
			}
		})
	}
}

// withoutNulls parses an envelope and removes what its messages set to null.
func withoutNulls(t *testing.T, text string) map[string]any {
	t.Helper()
	var e map[string]any
	decodeJSON(t, []byte(text), &e)
	for _, m := range e["messages"].([]any) {
		for key, v := range m.(map[string]any) {
			if v == nil && key != "content" {
				delete(m.(map[string]any), key)
			}
		}
	}
	return e
}
