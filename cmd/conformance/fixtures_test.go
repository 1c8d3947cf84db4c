package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// suites are the capabilities that gatehouse implements, each a folder of GATEHOUSE_FIXTURES.
var suites = []string{
	"harness-chat", "harness", "sessions", "suspension", "graph-engine", "observability", promptSuite, providerSuite,
}

// failing are the cases that are known to fail, and why. One that passes now, fails for another reason or no longer
// exists fails the test, so that the list stays true.
var failing = map[string]string{}

// fixtures is where the suites' folders are: GATEHOUSE_FIXTURES itself, or "openarmature" in it. It is "" where nothing
// is set.
func fixtures() string {
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if all := filepath.Join(root, "openarmature"); root != "" {
		if _, err := os.Stat(all); err == nil {
			return all
		}
	}
	return root
}

// TestChatsThroughTheProduct: every case of harness-chat has a counterpart in the product, and passes there.
func TestChatsThroughTheProduct(t *testing.T) {
	root := fixtures()
	if root == "" {
		t.Skip("SKIPPED: no fixtures were run. Set GATEHOUSE_FIXTURES.")
	}
	files, err := collect(
		[]string{
			filepath.Join(root, "harness-chat"), filepath.Join(root, "harness"), filepath.Join(root, "suspension"),
		})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, v := range runFile(t.Context(), f, true) {
			if len(v.Faults)+len(v.Unchecked) > 0 ||
				v.Capability == "harness-chat" && (v.NoCounterpart != "" || len(v.Unmatched) > 0) {
				t.Errorf("%s: %v, unchecked %v, without a counterpart %s %v", v.ID(), v.Faults, v.Unchecked,
					v.NoCounterpart, v.Unmatched)
			}
		}
	}
}

func TestFixtures(t *testing.T) {
	root := fixtures()
	if root == "" {
		t.Skip("SKIPPED: no fixtures were run. Set GATEHOUSE_FIXTURES to the folder that holds harness-chat, " +
			"harness, sessions, suspension, graph-engine, prompt-management and llm-provider.")
	}
	seen := map[string]bool{}
	for _, suite := range suites {
		files, err := collect([]string{filepath.Join(root, suite)})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			for _, v := range runFile(t.Context(), f, false) {
				seen[v.ID()] = true
				reason := strings.Join(v.Faults, "; ")
				switch expected, known := failing[v.ID()]; {
				case known && reason == "":
					t.Errorf("%s passes now: take it off the list", v.ID())
				case known && reason != expected:
					t.Errorf("%s fails for another reason than the listed one: %s", v.ID(), reason)
				case !known && reason != "":
					t.Errorf("%s: %s", v.ID(), reason)
				}
				for _, name := range v.Unchecked {
					t.Errorf("%s: nothing checks invariant %q", v.ID(), name)
				}
			}
		}
	}
	for id := range failing {
		if !seen[id] {
			t.Errorf("%s is on the list and no longer exists", id)
		}
	}
}
