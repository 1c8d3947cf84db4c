package slack

import (
	"gatehouse/adapters/internal/chattext"
	"strings"
)

// markdown makes Markdown of a model harmless and cuts it into what one message carries each.
//
// Whether code is code is the one thing that readers of Markdown may see differently, and what is code is spared. So each part is
// looked at again as it will stand; where that finds anything, code is not spared at all.
func markdown(text string) []string {
	text = clean(text)
	parts := chattext.Split(neutral(text, true), maxMarkdown)
	for _, p := range parts {
		if neutral(p, true) != p {
			return chattext.Split(neutral(text, false), maxMarkdown)
		}
	}
	return parts
}

// neutral takes from a Markdown text what reaches out of it when Slack shows it in a markdown block:
//
//   - Slack reads its own tokens there, <!channel> and <https://x|y>, even in code. It shows &lt; as < and does not read the result
//     again. So all angle brackets are escaped but the signs of quotes. The ampersand stays: escaping it would gain nothing, and
//     would break addresses.
//   - A link or an image whose text is not its address is broken by a space, as is the definition of one, so that the address is
//     seen: [text] (https://x).
//   - @here and its like: see calm.
//
// Code is spared the last two where every reader takes it for code: see sure. The text must be clean.
func neutral(text string, spare bool) string {
	var b strings.Builder
	s := sure{spare: spare}
	for _, line := range strings.SplitAfter(text, "\n") {
		if s.code(line) {
			b.WriteString(brackets.Replace(line))
			continue
		}
		quote := quoteOf(line)
		b.WriteString(quote)
		line = line[len(quote):]
		at := 0
		for _, span := range s.spans(line) {
			b.WriteString(plainly(line[at:span[0]]))
			b.WriteString(brackets.Replace(line[span[0]:span[1]]))
			at = span[1]
		}
		b.WriteString(plainly(line[at:]))
	}
	return b.String()
}

var brackets = strings.NewReplacer("<", "&lt;", ">", "&gt;")

var links = strings.NewReplacer("](", "] (", "][", "] [", "]:", "] :")

func plainly(s string) string { return calm(links.Replace(brackets.Replace(s))) }

// quoteOf is the quote signs that a line begins with.
func quoteOf(line string) string {
	end, blanks := 0, 0
	for i := range len(line) {
		switch line[i] {
		case '>':
			end, blanks = i+1, 0
			continue
		case ' ':
			if blanks++; blanks <= 3 {
				continue
			}
		}
		break
	}
	return line[:end]
}

// sure follows a text line by line and knows the code that no reader of Markdown takes for anything else.
type sure struct {
	spare  bool
	fences chattext.Fences
	mixed  bool // the block holds something that might be taken for its end
	loose  bool // a backtick of this paragraph has no partner on its line
}

// code reports whether a line belongs to a block between fences of backticks at the margin, with no further such fence inside.
func (s *sure) code(line string) bool {
	switch s.fences.Next(line) {
	case chattext.OpensFence:
		s.mixed = !s.fences.AtMargin()
		return false
	case chattext.InsideFence:
		s.mixed = s.mixed || strings.Contains(line, "```") || strings.Contains(line, "~~~")
		return s.spare && !s.mixed
	case chattext.ClosesFence:
		s.loose = s.mixed
	}
	return false
}

// spans are the pieces of code within a line: between single or double backticks that all have their partners on the same line,
// as do those of the lines of the paragraph before it. What holds a bar might be torn by a table, what holds half a pair of
// brackets by a link.
func (s *sure) spans(line string) [][2]int {
	if strings.Trim(line, " \t\r\n") == "" { // other white space does not end a paragraph
		s.loose = false
		return nil
	}
	var found [][2]int
	opened, open := 0, 0
	for i := 0; i < len(line); {
		if line[i] != '`' {
			i++
			continue
		}
		run := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		switch {
		case run > 2, open == 0 && i > 0 && line[i-1] == '\\', open != 0 && run != open:
			s.loose = true
		case open == 0:
			open, opened = run, i
		default:
			if whole(line[opened:i]) {
				found = append(found, [2]int{opened, i + run})
			}
			open = 0
		}
		i += run
	}
	s.loose = s.loose || open != 0
	if s.loose || !s.spare || s.fences.Open() {
		return nil
	}
	return found
}

// whole reports whether a piece of code stands for itself.
func whole(code string) bool {
	depth := 0
	for i := range len(code) {
		switch code[i] {
		case '|':
			return false
		case '[':
			depth++
		case ']':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
