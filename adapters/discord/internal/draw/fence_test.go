package draw

import (
	"strings"
	"testing"
)

// However many backticks a question has in a row, none of them ends the code block that it is drawn as.
func TestAQuestionEndsNoFence(t *testing.T) {
	for n := range 20 {
		run := strings.Repeat("`", n)
		text := strings.Repeat("<", 2000) + run + "[safe](https://evil.example)"
		Message := strings.TrimSuffix(strings.TrimPrefix(linesOf(text, 3000), "```\n"), "```")
		if strings.Contains(Message, "```") || strings.Count(Message, "`") != n {
			t.Errorf("%d backticks: %q", n, Message[2000:])
		}
	}
}
