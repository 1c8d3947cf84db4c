package discord

import (
	"strings"
	"testing"
)

// However many backticks a question has in a row, none of them ends the code block that it is drawn as.
func TestAQuestionEndsNoFence(t *testing.T) {
	for n := range 20 {
		run := strings.Repeat("`", n)
		text := strings.Repeat("<", 2000) + run + "[safe](https://evil.example)"
		drawn := strings.TrimSuffix(strings.TrimPrefix(linesOf(text, 3000), "```\n"), "```")
		if strings.Contains(drawn, "```") || strings.Count(drawn, "`") != n {
			t.Errorf("%d backticks: %q", n, drawn[2000:])
		}
	}
}
