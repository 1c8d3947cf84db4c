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

// TestFindings parses the envelopes in testdata. Each is followed by its findings, a line each; none means that it is valid. The first
// lines of an archive may say profile: compat or strict-vars.
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
