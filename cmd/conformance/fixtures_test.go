package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// suites are the capabilities that gatehouse implements, each a folder of GATEHOUSE_FIXTURES.
var suites = []string{"harness-chat", "harness", "sessions", "suspension", "graph-engine"}

// failing are the cases that are known to fail, and why. One that begins to pass, fails for another reason or is not there any
// more fails the test: the list stays true.
var failing = map[string]string{
	"graph-engine/006-subgraph-composition/case":                                                                    "needs subgraph: not supported yet",
	"graph-engine/007-compile-errors/mapping_references_undeclared_field":                                           "needs subgraph: not supported yet",
	"graph-engine/011-subgraph-explicit-mapping/case":                                                               "needs subgraph: not supported yet",
	"graph-engine/017-observer-fan-out-index/case":                                                                  "needs fan_out, subgraph: not supported yet",
	"sessions/010-session-composition-subgraph/subgraph_sees_only_projected_input_not_session_state":                "needs subgraph: not supported yet",
	"sessions/012-session-observability/session_id_on_every_span_and_log_record":                                    "needs logs, spans: not supported yet",
	"sessions/012-session-observability/no_session_id_attribute_when_invocation_not_session_bound":                  "needs logs, spans: not supported yet",
	"suspension/005-suspend-in-subgraph/subgraph_node_suspend_propagates_to_outer_invocation":                       "needs subgraph: not supported yet",
	"suspension/006-suspend-in-fan-out-fail-fast/fan_out_instance_suspend_cancels_siblings_and_propagates":          "needs fan_out, subgraph: not supported yet",
	"suspension/008-suspend-in-parallel-branches-fail-fast/parallel_branch_suspend_cancels_siblings_and_propagates": "needs parallel_branches, subgraph: not supported yet",
	"suspension/014-suspend-wrapped-by-middleware/middleware_pre_next_runs_post_next_skipped_on_suspending_node":    "needs middleware: not supported yet",
}

func TestFixtures(t *testing.T) {
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no fixtures were run. Set GATEHOUSE_FIXTURES to the folder that holds harness-chat, harness, sessions, suspension and graph-engine.")
	}
	seen := map[string]bool{}
	for _, suite := range suites {
		files, err := collect([]string{filepath.Join(root, suite)})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			for _, v := range runFile(t.Context(), f) {
				seen[v.ID()] = true
				reason := strings.Join(v.Faults, "; ")
				switch expected, known := failing[v.ID()]; {
				case known && reason == "":
					t.Errorf("%s passes now: take it off the list", v.ID())
				case known && reason != expected:
					t.Errorf("%s fails otherwise than the list says: %s", v.ID(), reason)
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
			t.Errorf("%s is on the list and is not there any more", id)
		}
	}
}
