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

// convert runs gatehouse hrf convert on a text.
func convert(t *testing.T, text, to string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), []string{"hrf", "convert", "--to", to, "-"}, cli.Stdio{In: strings.NewReader(text), Out: &stdout, Err: &stderr})
	return stdout.String(), stderr.String(), code
}

// hrfFixtures returns the files of a folder of the HRF cases.
func hrfFixtures(t *testing.T, folder string) []string {
	t.Helper()
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no HRF case was converted. Set GATEHOUSE_FIXTURES to the folder that holds hrf.")
	}
	files, err := filepath.Glob(filepath.Join(root, "hrf", folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", folder, err)
	}
	return files
}

// TestHRFNativeCases converts every text in the token form. The cases name plain text "text" and what is missing null; HRF leaves both out.
func TestHRFNativeCases(t *testing.T) {
	for _, file := range hrfFixtures(t, "native") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var c struct {
				Text   string
				Expect struct {
					Error    bool
					Messages []map[string]any
				}
			}
			readCase(t, file, &c)
			out, errs, code := convert(t, c.Text, "json")
			if c.Expect.Error {
				if code != cli.ExitBad || out != "" || errs == "" {
					t.Fatalf("exit %d, %q, %q", code, out, errs)
				}
				return
			}
			var got struct{ Messages []map[string]any }
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%q, %s: %v", out, errs, err)
			}
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
	for _, file := range hrfFixtures(t, "valid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			native, errs, code := convert(t, string(text), "native")
			if code != cli.ExitDone {
				if native != "" || !strings.Contains(errs, ": the token form can't hold ") {
					t.Errorf("exit %d, %q, %q", code, native, errs)
				}
				return
			}
			back, errs, code := convert(t, native, "json")
			if diff := cmp.Diff(withoutNulls(t, string(text)), withoutNulls(t, back)); diff != "" || code != cli.ExitDone {
				t.Errorf("exit %d, %s\n%s", code, errs, diff)
			}
		})
	}
}

// withoutNulls parses an envelope and removes what its messages set to null.
func withoutNulls(t *testing.T, text string) map[string]any {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, m := range e["messages"].([]any) {
		for key, v := range m.(map[string]any) {
			if v == nil && key != "content" {
				delete(m.(map[string]any), key)
			}
		}
	}
	return e
}

func readCase(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
