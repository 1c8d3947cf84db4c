package main

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// unsupportedKeys are directives of parts that the core does not have yet.
var unsupportedKeys = map[string]string{
	"subgraph": "subgraph", "subgraphs": "subgraph", "inner_pre_state": "subgraph",
	"fan_out": "fan_out", "conditional_suspend": "fan_out", "instance_pre_states": "fan_out",
	"parallel_branches":    "parallel_branches",
	"wrap_with_middleware": "middleware", "middleware": "middleware", "middleware_log_captured": "middleware",
	"span_tree": "spans", "otel_spans": "spans", "session_id_uniform_across_span_tree": "spans",
	"log_records": "logs", "emits_log": "logs", "all_logs_carry_session_id": "logs",
}

// unsupportedSuites are capabilities whose fixtures we do not run.
var unsupportedSuites = []string{"llm-provider", "prompt-management", "observability", "pipeline-utilities", "retrieval-provider"}

// unsupported says what a case needs that we do not have; "" where it needs nothing.
func unsupported(capability string, c *doc) string {
	if slices.Contains(unsupportedSuites, capability) {
		return fmt.Sprintf("needs %s: not supported yet", capability)
	}
	found := map[string]bool{}
	scan(c.node, found)
	if len(found) == 0 {
		return ""
	}
	names := make([]string, 0, len(found))
	for n := range found {
		names = append(names, n)
	}
	slices.Sort(names)
	return fmt.Sprintf("needs %s: not supported yet", strings.Join(names, ", "))
}

func scan(n *yaml.Node, found map[string]bool) {
	n = resolve(n)
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode {
			scan(c, found)
			continue
		}
		if i%2 == 1 {
			continue
		}
		value := resolve(n.Content[i+1])
		if what, ok := unsupportedKeys[c.Value]; ok {
			found[what] = true
		}
		if c.Value == "behavior" && value.Value == "otel" {
			found["spans"] = true
		}
		scan(value, found)
	}
}
