package main

import (
	"fmt"
	"slices"
)

// unsupportedSuites are capabilities whose fixtures we do not run.
var unsupportedSuites = []string{"llm-provider", "prompt-management", "observability", "pipeline-utilities", "retrieval-provider"}

// unsupported says what a case needs that we do not have; "" where it needs nothing.
func unsupported(capability string) string {
	if slices.Contains(unsupportedSuites, capability) {
		return fmt.Sprintf("needs %s: not supported yet", capability)
	}
	return ""
}
