package console

import (
	"slices"
	"strings"

	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// style formats texts for the terminal as it is now. Its results are sanitized and end with a newline.
type style struct {
	tty, color bool
	width      int // the terminal's, in columns; 0: no line is broken
}

// The looks, as escape sequences have them.
const (
	bold       = "1"
	faint      = "2"
	italic     = "3"
	underlined = "4"
	struck     = "9"
	red        = "31"
	cyan       = "36"
)

// colors are those of what stands beside a card's lines.
var colors = map[doc.Color]string{doc.Amber: "33", doc.Green: "32", doc.Red: red, doc.Grey: faint}

func (s style) paint(look, text string) string {
	if !s.color || look == "" || text == "" {
		return text
	}
	return "\x1b[" + look + "m" + text + "\x1b[0m"
}

// printed are lines as the terminal gets them.
func (s style) printed(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		for i := 0; i < len(l); {
			text, look := "", l[i].look
			for ; i < len(l) && l[i].look == look; i++ {
				text += l[i].text
			}
			if s.tty && i == len(l) {
				text = strings.TrimRight(text, " ")
			}
			b.WriteString(s.paint(look, text))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// linesOf are the lines of a text, safe to print.
func linesOf(text string) []string {
	return strings.Split(strings.TrimRight(Sanitize(text), "\n"), "\n")
}

// The speakers.
const (
	bot       = "bot>"
	gatehouse = "gatehouse>"
)

// post is a reply or a sentence of gatehouse. In a pipe both begin alike, and code stands at the margin of the bot's
// lines.
func (s style) post(d core.Delivery) string {
	mark := ""
	if d.Late {
		mark = "(late) "
	}
	switch {
	case d.Kind == core.PostReply && s.tty:
		first, others := speaker(bot, cyan)
		lines := s.drawn(d.Text, s.width-others.width())
		return s.printed(framed(append(first, piece{text: mark}), others, lines, s.width))
	case d.Kind == core.PostReply:
		return s.said(bot, cyan, mark+doc.Text(doc.Parse(Sanitize(d.Text)), true))
	case d.Kind == core.PostError:
		return s.notice(mark+d.Text, red)
	}
	return s.notice(mark+d.Text, faint)
}

// notice is a sentence of gatehouse.
func (s style) notice(text, look string) string {
	if s.tty {
		return s.said(gatehouse, look, text)
	}
	return s.said(bot, look, text)
}

// said is a text that somebody says, as it is; its lines after the first are indented.
func (s style) said(who, look, text string) string {
	first, others := speaker(who, look)
	var all []line
	for _, text := range linesOf(text) {
		hang := slices.Clip(others)
		if gap := table.FindString(text); gap != "" && s.width > 2*len(gap) {
			hang = append(hang, piece{text: strings.Repeat(" ", len([]rune(gap)))})
		}
		if s.width > 0 {
			text = tabs.Replace(text)
		}
		all = append(all, framed(first, hang, []line{{{text: text}}}, s.width)...)
		first = others
	}
	return s.printed(all)
}

// speaker begins what somebody says, and the lines after the first.
func speaker(who, look string) (first, others line) {
	return line{{text: who, look: look}, {text: " "}}, line{{text: strings.Repeat(" ", len(who)+1)}}
}

// lines are lines about a card, each behind an edge.
func (s style) lines(a shown, edge string, lines ...string) string {
	return s.behind(a, edge, edge, lines...)
}

// behind are lines about a card, each behind an edge; what is left of a line that is broken is behind another one.
func (s style) behind(a shown, edge, broken string, lines ...string) string {
	first := line{{text: edge, look: a.color}, {text: " "}}
	others := line{{text: broken, look: a.color}, {text: "   "}}
	var all []line
	for _, text := range lines {
		all = append(all, framed(first, others, []line{{{text: oneLine(text)}}}, s.width)...)
	}
	return s.printed(all)
}

// news is what a card says that is not among the lines before, and what that is about; at a prompt an approval that is
// new is in a box.
func (s style) news(a shown, before []string) (out string) {
	first, last := a.lines[0], len(a.lines)-1
	if s.tty && before == nil && a.open() && a.card.Question == nil {
		top := framed(line{{text: "┌ ", look: a.color}}, line{{text: "│   ", look: a.color}},
			[]line{{{text: oneLine(first), look: a.color}}}, s.width)
		return s.printed(top) + s.behind(a, "│", "│", a.lines[1:last]...) + s.behind(a, "└", " ", a.lines[last])
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

// prompt is the text before the person's own line. While a card is open it says which answers it takes.
func (s style) prompt(working, answers string) string {
	you := "you> "
	if answers != "" {
		you = "you (" + answers + ")> "
	}
	if working != "" {
		you = s.paint(faint, working) + " " + you
	}
	return you
}
