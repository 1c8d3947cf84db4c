package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
)

// hrfVector is a case in the manifest of the HRF vectors.
type hrfVector struct {
	File, Kind  string
	Origin      string
	Valid       bool
	Code        *string `json:"expected_code"`
	MinWarnings int     `json:"min_warnings"`
	Tier        int
}

// hrfVerdict is what hrf validate prints. Unknown members are refused.
type hrfVerdict struct {
	Valid    bool         `json:"valid"`
	Error    *hrfError    `json:"error"`
	Errors   []hrfFinding `json:"errors"`
	Warnings []hrfFinding `json:"warnings"`
}

type hrfError struct {
	Code    string       `json:"code"`
	Message string       `json:"message"`
	Details []hrfFinding `json:"details"`
}

type hrfFinding struct {
	Code, Message, Hint, Pointer, Rule string
	Line, Column                       int
}

// hrfVectors reads the vectors of some kinds, and skips the test without them.
func hrfVectors(t *testing.T, kinds ...string) (root string, vectors []hrfVector) {
	t.Helper()
	root = os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skipf("SKIPPED: no HRF vectors of %v were run. Set GATEHOUSE_FIXTURES to the folder that holds hrf.", kinds)
	}
	root = filepath.Join(root, "hrf")
	var manifest struct{ Entries []hrfVector }
	readJSON(t, filepath.Join(root, "manifest.json"), &manifest)
	for _, v := range manifest.Entries {
		if slices.Contains(kinds, v.Kind) {
			vectors = append(vectors, v)
		}
	}
	if len(vectors) == 0 {
		t.Fatalf("there are no vectors of %v", kinds)
	}
	return root, vectors
}

// TestHRFValidateVectors checks every vector of all tiers with gatehouse hrf validate: the verdict, the recommended
// code, the number of warnings and the shape of the error. What a repository ships is valid in the compat profile.
func TestHRFValidateVectors(t *testing.T) {
	root, vectors := hrfVectors(t, "validate", "validate-raw")
	for _, v := range vectors {
		t.Run(v.File, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, v.File))
			noErr(t, err)
			if v.Kind == "validate-raw" {
				var wrapped struct{ Raw string }
				readJSON(t, filepath.Join(root, v.File), &wrapped)
				text = []byte(wrapped.Raw)
			}
			v.check(t, hrfValidate(t, text, "--profile", "strict"))
			if v.Origin == "repo" {
				if compat := hrfValidate(t, text, "--profile", "compat"); !compat.Valid || len(compat.Warnings) == 0 {
					t.Errorf("in the compat profile: %+v", compat)
				}
			}
		})
	}
}

func (v hrfVector) check(t *testing.T, got hrfVerdict) {
	t.Helper()
	if got.Valid != v.Valid {
		t.Fatalf("valid %t, want %t: %+v", got.Valid, v.Valid, got.Errors)
	}
	if len(got.Warnings) < v.MinWarnings {
		t.Errorf("%d warnings, want at least %d", len(got.Warnings), v.MinWarnings)
	}
	if v.Valid {
		if got.Error != nil || len(got.Errors) > 0 {
			t.Errorf("it is valid, but has errors: %+v, %+v", got.Error, got.Errors)
		}
		return
	}
	if got.Error == nil || got.Error.Code != *v.Code || got.Error.Message == "" ||
		!slices.Equal(got.Error.Details, got.Errors) {
		t.Fatalf("the error is %+v, want the code %s and as details %+v", got.Error, *v.Code, got.Errors)
	}
	if !slices.ContainsFunc(got.Errors, func(f hrfFinding) bool { return f.Code == *v.Code }) {
		t.Errorf("no finding has the error's code: %+v", got.Errors)
	}
	for _, f := range slices.Concat(got.Errors, got.Warnings) {
		if f.Line < 1 || f.Column < 1 || f.Message == "" || f.Rule == "" || !strings.HasPrefix(f.Code, "HRF_") {
			t.Errorf("a finding is not complete: %+v", f)
		}
	}
}

// hrfValidate runs gatehouse hrf validate on a text as standard input.
func hrfValidate(t *testing.T, text []byte, flags ...string) hrfVerdict {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append([]string{"hrf", "validate", "--json", "-"}, flags...)
	code := run(t.Context(), args, cli.Stdio{In: bytes.NewReader(text), Out: &stdout, Err: &stderr}, platforms)
	var got hrfVerdict
	dec := json.NewDecoder(&stdout)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%v; standard error: %s", err, stderr.String())
	}
	if want := map[bool]int{true: cli.ExitDone, false: cli.ExitBad}[got.Valid]; code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	return got
}
