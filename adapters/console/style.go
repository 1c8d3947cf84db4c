package console

import (
	"strings"

	"gatehouse/core"
)

// style formats texts. Its results are sanitized and end with a newline.
type style struct{ tty, color bool }

const (
	cyan   = "36"
	yellow = "33"
	green  = "32"
	red    = "31"
	faint  = "2"
)

func (s style) paint(code, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// bot is a text of the bot; its lines after the first are indented.
func (s style) bot(text string) string {
	lines := strings.Split(strings.TrimRight(Sanitize(text), "\n"), "\n")
	return s.paint(cyan, "bot>") + " " + strings.Join(lines, "\n     ") + "\n"
}

// approval is one line about an approval; text is sanitized already.
func (s style) approval(text string) string {
	return s.paint(yellow, "approval>") + " " + text + "\n"
}

// card is an approval in its current state: open in full, decided in one line.
func (s style) card(card core.Card) string {
	if card.State != core.Open {
		code := red
		if card.State == core.Approved {
			code = green
		}
		return s.approval(s.paint(code, decisionLine(card)))
	}
	title := oneLine(card.Tool) + " wants your approval: " + oneLine(card.Summary)
	lines := cardLines(card)
	if !s.tty {
		out := s.approval(title)
		for _, l := range lines {
			out += s.approval(l)
		}
		return out
	}
	bar := s.paint(yellow, "│") + " "
	out := s.paint(yellow, "┌ "+title) + "\n"
	for i, l := range lines {
		if i == len(lines)-1 {
			bar = s.paint(yellow, "└") + " "
		}
		out += bar + l + "\n"
	}
	return out
}

// prompt is the text before the person's own line.
func (s style) prompt(frame string, asked bool) string {
	text := "you> "
	if asked {
		text = "you (y/n)> "
	}
	if frame != "" {
		return s.paint(faint, frame) + " " + text
	}
	return text
}
