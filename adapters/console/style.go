package console

import (
	"slices"
	"strings"

	"gatehouse/adapters/internal/doc"
)

// style formats texts. Its results are sanitized and end with a newline.
type style struct{ tty, color bool }

const (
	cyan  = "36"
	faint = "2"
)

// colors are those of what stands beside a card's lines.
var colors = map[doc.Color]string{doc.Amber: "33", doc.Green: "32", doc.Red: "31", doc.Grey: faint}

func (s style) paint(code, text string) string {
	if !s.color || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// reply is a model's reply as text with Markdown's marks. Code stands at the margin of the bot's lines.
func reply(markdown string) string { return doc.Text(doc.Parse(Sanitize(markdown)), true) }

// linesOf are the lines of a text, safe to print.
func linesOf(text string) []string {
	return strings.Split(strings.TrimRight(Sanitize(text), "\n"), "\n")
}

// bot is a text of the bot; its lines after the first are indented.
func (s style) bot(text string) string {
	return s.paint(cyan, "bot>") + " " + strings.Join(linesOf(text), "\n     ") + "\n"
}

// lines are lines about a card, each behind an edge.
func (s style) lines(a shown, edge string, lines ...string) (out string) {
	for _, line := range lines {
		out += s.paint(a.color, edge) + " " + oneLine(line) + "\n"
	}
	return out
}

// news is what a card says that is not among the lines before, and what that is about; at a prompt an approval that is
// new is in a box.
func (s style) news(a shown, before []string) (out string) {
	first, last := a.lines[0], len(a.lines)-1
	if s.tty && before == nil && a.open() && a.card.Question == nil {
		return s.paint(a.color, "┌ "+oneLine(first)) + "\n" +
			s.lines(a, "│", a.lines[1:last]...) + s.lines(a, "└", a.lines[last])
	}
	about := ""
	if slices.Contains(before, first) {
		about = a.title + " – "
	}
	for _, line := range a.lines {
		if !slices.Contains(before, line) {
			out += s.lines(a, a.edge, about+line)
		}
	}
	return out
}

// prompt is the text before the person's own line. While a card is open it says which answers it takes, and which card
// they are for where several are.
func (s style) prompt(frame, answers, which string) string {
	you := "you> "
	if which != "" {
		answers += " to " + which
	}
	if answers != "" {
		you = "you (" + answers + ")> "
	}
	if frame != "" {
		you = s.paint(faint, frame) + " " + you
	}
	return you
}
