package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/cmd/gatehouse/internal/cli"
)

// vector is a case in the manifest of the typestate vectors.
type vector struct {
	ID          string
	Suite       string
	Tier        string
	Input       string
	Kind        string // of a normalisation: equal or differs
	AssertMode  string
	Expected    expected
	Reference   expected `json:"referenceExpected"`
	Output      string   `json:"referenceOutput"`
	Variants    []variant
	RefObserved struct {
		Digests map[string]string
		Stderr  string
	} `json:"referenceObserved"`
}

type expected struct {
	Result         string
	FailureClasses []string
	JoinClosed     bool
	InvalidInput   bool
	MutationReady  bool
	ExitCode       int
	StderrPrefix   string
}

type variant struct {
	Name, Input string
	Changed     []string          `json:"changedDigestsVersusFirst"`
	Digests     map[string]string `json:"referenceDigests"`
}

// printed is the JSON that the two commands print.
type printed struct {
	Result         string
	FailureClasses []string
	JoinClosed     bool
	MutationReady  bool
	Normalized     map[string]any
	Witness        struct{ Digests map[string]string }
}

// TestTypestateVectors runs every vector of the tiers must, reference and seed with the two commands. Vectors of the
// tier divergent are not run; core/typestate documents the choices made there.
func TestTypestateVectors(t *testing.T) {
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no typestate vectors were run. Set GATEHOUSE_FIXTURES to the folder that holds typestate.")
	}
	root = filepath.Join(root, "typestate")
	text, err := os.ReadFile(filepath.Join(root, "manifest.json"))
	noErr(t, err)
	var manifest struct{ Vectors []vector }
	noErr(t, json.Unmarshal(text, &manifest))
	ran := map[string]int{}
	for _, v := range manifest.Vectors {
		if v.Tier == "divergent" {
			continue
		}
		ran[v.Tier]++
		t.Run(v.ID, func(t *testing.T) {
			switch v.Suite {
			case "join-check":
				v.joinCheck(t, root)
			case "normalization":
				v.normalization(t, root)
			case "mutation-gate":
				v.mutationGate(t, root)
			default:
				t.Fatalf("an unknown suite %q", v.Suite)
			}
		})
	}
	if ran["must"] == 0 {
		t.Error("no vector of the tier must was run")
	}
	t.Logf("ran %v", ran)
}

// check runs a command on a file.
func check(t *testing.T, command, file string) (out printed, raw, stderr string, code int) {
	t.Helper()
	var stdout, errs bytes.Buffer
	code = run(t.Context(), []string{command, "--input", file, "--json"}, cli.Stdio{Out: &stdout, Err: &errs},
		platforms)
	if stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil {
			t.Fatalf("%s: %v", stdout.String(), err)
		}
	}
	return out, stdout.String(), errs.String(), code
}

func (v vector) joinCheck(t *testing.T, root string) {
	out, raw, stderr, code := check(t, "join-check", filepath.Join(root, v.Input))
	if v.Expected.InvalidInput {
		if code != v.Reference.ExitCode || raw != "" || !strings.HasPrefix(stderr, v.Reference.StderrPrefix) {
			t.Fatalf("exit %d, %q, %q; want %d, nothing, %q", code, raw, stderr, v.Reference.ExitCode,
				v.Reference.StderrPrefix)
		}
		if !strings.HasPrefix(stderr, v.RefObserved.Stderr) {
			t.Errorf("it says %q, the reference %q", stderr, v.RefObserved.Stderr)
		}
		return
	}
	if code != 0 || out.Result != v.Expected.Result || out.JoinClosed != v.Expected.JoinClosed ||
		!slices.Equal(out.FailureClasses, v.Expected.FailureClasses) {
		t.Fatalf("exit %d, %s, closed %t, %v; want %+v\n%s", code, out.Result, out.JoinClosed, out.FailureClasses,
			v.Expected, stderr)
	}
	if d := cmp.Diff(v.RefObserved.Digests, out.Witness.Digests); d != "" {
		t.Errorf("digests, - the reference's + ours:\n%s", d)
	}
	if v.Output == "" {
		return
	}
	want, err := os.ReadFile(filepath.Join(root, v.Output))
	noErr(t, err)
	if d := cmp.Diff(strings.TrimSpace(string(want)), strings.TrimSpace(raw)); d != "" {
		t.Errorf("the report, - the reference's + ours:\n%s", d)
	}
}

func (v vector) normalization(t *testing.T, root string) {
	var first printed
	for i, w := range v.Variants {
		out, _, stderr, code := check(t, "join-check", filepath.Join(root, w.Input))
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", w.Name, code, stderr)
		}
		if d := cmp.Diff(w.Digests, out.Witness.Digests); d != "" {
			t.Errorf("%s: digests, - the reference's + ours:\n%s", w.Name, d)
		}
		if i == 0 {
			first = out
			continue
		}
		if v.Kind == "equal" && !cmp.Equal(first.Normalized, out.Normalized) {
			t.Errorf("%s: another normal form:\n%s", w.Name, cmp.Diff(first.Normalized, out.Normalized))
		}
		if v.Kind == "differs" {
			var changed []string
			for name := range first.Witness.Digests {
				if first.Witness.Digests[name] != out.Witness.Digests[name] {
					changed = append(changed, name)
				}
			}
			if slices.Sort(changed); !slices.Equal(changed, w.Changed) {
				t.Errorf("%s: %v changed, want %v", w.Name, changed, w.Changed)
			}
		}
	}
}

func (v vector) mutationGate(t *testing.T, root string) {
	out, _, stderr, code := check(t, "mutation-check", filepath.Join(root, v.Input))
	if code != 0 || out.MutationReady != v.Expected.MutationReady {
		t.Fatalf("exit %d, ready %t, %v, want %t\n%s", code, out.MutationReady, out.FailureClasses,
			v.Expected.MutationReady, stderr)
	}
	switch {
	case v.AssertMode == "contains":
		for _, c := range v.Expected.FailureClasses {
			if !slices.Contains(out.FailureClasses, c) {
				t.Errorf("%v, want %s among them", out.FailureClasses, c)
			}
		}
	case v.AssertMode == "class_suggested" || v.Expected.FailureClasses == nil:
	case !slices.Equal(out.FailureClasses, v.Expected.FailureClasses):
		t.Errorf("%v, want %v", out.FailureClasses, v.Expected.FailureClasses)
	}
}
