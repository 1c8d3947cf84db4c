package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"gatehouse/cmd/conformance/internal/fixture"
)

// result is what running a case found.
type result struct {
	fixture.Case
	Unchecked []string `json:"unchecked,omitempty"` // names of invariants

	NoCounterpart string   `json:"no_counterpart,omitempty"` // why the case was not run through the product
	Unmatched     []string `json:"unmatched,omitempty"`      // its assertions that have no counterpart there
}

// verdict is the result of a named case.
type verdict struct {
	Capability string `json:"capability"`
	File       string `json:"file"`
	Case       string `json:"case"`
	result
}

// ID names the case.
func (v verdict) ID() string { return v.Capability + "/" + v.File + "/" + v.Case }

// report prints verdicts and counts them.
type report struct {
	w                         io.Writer
	json                      bool
	strict                    bool
	passed, failed, unchecked int
	outside                   int // cases without a counterpart
}

func (r *report) add(v verdict) {
	if r.strict {
		for _, name := range v.Unchecked {
			v.Faults = append(v.Faults, fmt.Sprintf("invariant %q is unchecked", name))
		}
	}
	r.unchecked += len(v.Unchecked)
	result, reason := "ok", ""
	switch {
	case len(v.Faults) > 0:
		r.failed++
		result, reason = "FAIL", ": "+strings.ReplaceAll(strings.Join(v.Faults, "; "), "\n", " ")
	case v.NoCounterpart != "":
		r.outside++
		result, reason = "no counterpart", ": "+v.NoCounterpart
	default:
		r.passed++
	}
	if r.json {
		r.line(struct {
			verdict
			OK bool `json:"ok"`
		}{v, result == "ok"})
		return
	}
	fmt.Fprintf(r.w, "%s %s%s\n", result, v.ID(), reason)
	for _, what := range v.Unmatched {
		fmt.Fprintf(r.w, "no counterpart %s: %s\n", v.ID(), what)
	}
	for _, name := range v.Unchecked {
		fmt.Fprintf(r.w, "unchecked %s: invariant %q\n", v.ID(), name)
	}
}

func (r *report) summary() {
	if r.json {
		r.line(
			map[string]int{
				"passed": r.passed, "failed": r.failed, "unchecked": r.unchecked, "no_counterpart": r.outside,
			})
		return
	}
	fmt.Fprintf(r.w, "%d passed, %d failed", r.passed, r.failed)
	if r.unchecked > 0 {
		fmt.Fprintf(r.w, ", %d unchecked", r.unchecked)
	}
	if r.outside > 0 {
		fmt.Fprintf(r.w, ", %d without a counterpart", r.outside)
	}
	fmt.Fprintln(r.w)
}

// a failed write to stdout has nowhere to be reported
func (r *report) line(v any) { _ = json.NewEncoder(r.w).Encode(v) }
