package hrf_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"gatehouse/core/hrf"
	"gatehouse/core/strictjson"
)

// FuzzParse shows that every text ends in an envelope or in findings that stand within the text; that the schema says
// the same; that what is valid in the strict profile is valid in compat; and that the order of keys and the white space
// don't matter.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i := 0; i < len(archive.Files); i += 2 {
			f.Add(archive.Files[i].Data)
		}
	}
	schema := compiled(f, "envelope", hrf.Schema)
	f.Fuzz(func(t *testing.T, text []byte) {
		e, report := hrf.Parse(text, hrf.Strict)
		if (e != nil) != report.Valid() || (report.Err() == nil) != report.Valid() {
			t.Fatalf("an envelope %t, an error %v, valid %t", e != nil, report.Err(), report.Valid())
		}
		_, lenient := hrf.Parse(text, hrf.Compat, hrf.StrictVars)
		for _, finding := range slices.Concat(report.Errors, report.Warnings, lenient.Errors, lenient.Warnings) {
			within(t, text, finding)
		}
		agree(t, schema, text, report)
		if !report.Valid() {
			return
		}
		if _, lenient := hrf.Parse(text, hrf.Compat); !lenient.Valid() {
			t.Fatalf("compat finds %+v", lenient.Errors)
		}
		v, err := strictjson.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		again, other := hrf.Parse(v.AppendCanonical(nil, nil), hrf.Strict)
		if !other.Valid() {
			t.Fatalf("with other white space: %+v", other.Errors)
		}
		if a, b := shape(e), shape(again); !slices.Equal(a, b) {
			t.Fatalf("with other white space:\n%s", cmp.Diff(a, b))
		}
	})
}

// within fails if a finding does not stand in the text.
func within(t *testing.T, text []byte, f hrf.Finding) {
	t.Helper()
	lines := bytes.Split(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n"))
	if f.Line < 1 || f.Line > len(lines) || f.Column < 1 || f.Column > len(lines[f.Line-1])+1 {
		t.Fatalf("no such place: %+v", f)
	}
	if strings.HasPrefix(f.Rule, "text.") {
		return
	}
	v, err := strictjson.Parse(bytes.TrimPrefix(text, []byte("\ufeff")), strictjson.Repeats)
	if err != nil || v.At(f.Pointer) == nil {
		t.Fatalf("no such value: %+v, %v", f, err)
	}
}

// shape lists the messages and steps of an envelope.
func shape(e *hrf.Envelope) []string {
	all := []string{e.Version}
	for _, m := range e.Messages {
		all = append(all,
			strings.Join([]string{m.Pointer, m.Role, m.Channel, m.Recipient, m.ContentType, m.Termination}, " "))
	}
	var steps func(list []hrf.Step)
	steps = func(list []hrf.Step) {
		for _, s := range list {
			all = append(all, s.Where().Pointer)
			if branch, ok := s.(*hrf.If); ok {
				steps(branch.Then)
				steps(branch.Else)
			}
		}
	}
	if e.Script != nil {
		steps(e.Script.Steps)
	}
	return all
}
