package console

import (
	"context"
	"strings"

	"gatehouse/adapters/wording"
	"gatehouse/core/greeting"
)

// greet prints what an empty conversation begins with at a prompt, or that a conversation goes on.
func (c *Console) greet(ctx context.Context) {
	if empty, err := c.opt.Work.Empty(ctx); err != nil || !empty {
		c.say(wording.Fill(c.texts.TerminalContinues, "{session}", c.opt.Session))
		return
	}
	g := c.opt.Greeting
	if g.Text == "" {
		return
	}
	who := g.Agent
	if g.Model != "" {
		who += " (" + g.Model + ")"
	}
	lines := []string{who, g.Text, greeting.Approvals}
	if len(g.Examples) > 0 {
		lines = append(lines, c.texts.TerminalExamples)
	}
	for _, e := range g.Examples {
		lines = append(lines, "  "+oneLine(e))
	}
	c.say(strings.Trim(strings.Join(append(lines, c.texts.TerminalCommands), "\n"), "\n"))
}
