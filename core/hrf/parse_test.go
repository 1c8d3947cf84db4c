package hrf_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"gatehouse/core/hrf"
)

var update = flag.Bool("update", false, "write what Parse finds into testdata")

// TestFindings parses the envelopes in testdata. Each is followed by its findings, a line each; none means that it is
// valid. The first lines of an archive may say profile: compat or strict-vars.
func TestFindingsOfEnvelopes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		profile, options := hrf.Strict, []hrf.Option{}
		switch comment := strings.TrimSpace(string(archive.Comment)); comment {
		case "profile: compat":
			profile = hrf.Compat
		case "strict-vars":
			options = append(options, hrf.StrictVars)
		case "":
		default:
			t.Fatalf("%s: %q", file, comment)
		}
		for i := 0; i+1 < len(archive.Files); i += 2 {
			envelope, findings := archive.Files[i], &archive.Files[i+1]
			e, report := hrf.Parse(envelope.Data, profile, options...)
			if (e != nil) != report.Valid() {
				t.Errorf("%s %s: an envelope %t, valid %t", file, envelope.Name, e != nil, report.Valid())
			}
			got := listed(report)
			if *update {
				findings.Data = []byte(got)
			}
			if d := cmp.Diff(string(findings.Data), got); d != "" {
				t.Errorf("%s %s, - want + got:\n%s", file, envelope.Name, d)
			}
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// listed gives the code of a report, and its findings.
func listed(r *hrf.Report) string {
	var b strings.Builder
	if err := r.Err(); err != nil {
		fmt.Fprintln(&b, err.Code)
	}
	for _, f := range r.Errors {
		line(&b, "error", f)
	}
	for _, f := range r.Warnings {
		line(&b, "warning", f)
	}
	return b.String()
}

func line(b *strings.Builder, kind string, f hrf.Finding) {
	fmt.Fprintf(b, "%d:%d %s %s %s: %s", f.Line, f.Column, kind, f.Rule, f.Pointer, f.Message)
	if f.Hint != "" {
		fmt.Fprintf(b, " (%s)", f.Hint)
	}
	b.WriteByte('\n')
}

// Findings below a long key do not take its length each: they name the nearest value around that has a short pointer.
func TestPointersHaveABoundedLength(t *testing.T) {
	key := strings.Repeat("k", 100_000)
	text := `{"HRFVersion":"1.0","messages":[{"role":"system","contentType":"harmony-script",` +
		`"content":{"vars":{"v":{"` +
		key + `":{` + strings.Repeat(`"a":1,`, 5_000) + `"b":2}}},
		"steps":[{"type":"tool-call","recipient":"a.b","channel":"commentary","save_as":"x","args":{"` + key + `":[` +
		strings.Repeat(`"$vars.(",`, 5_000) + `1]}}]}}]}`
	_, report := hrf.Parse([]byte(text), hrf.Strict)
	if len(report.Errors) != 4_999+5_000 {
		t.Fatalf("%d errors", len(report.Errors))
	}
	for _, f := range report.Errors {
		if f.Pointer != "/messages/0/content/vars/v" && f.Pointer != "/messages/0/content/steps/0/args" {
			t.Fatalf("%d:%d has a pointer of %d bytes: %.50s", f.Line, f.Column, len(f.Pointer), f.Pointer)
		}
	}
}
