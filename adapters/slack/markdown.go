package slack

import (
	"regexp"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/chattext"
)

// markdown makes a model's Markdown harmless and cuts it into parts that fit a message.
//
// Code is changed less than other text, but Markdown parsers differ in what they read as code. So each part is checked again in the form
// in which it is sent. If neutral would change it once more, code is treated like all other text.
func markdown(text string) []string {
	text = chat.Clean(text)
	parts := cut(neutral(text, true))
	for _, p := range parts {
		if neutral(p, true) != p {
			return cut(neutral(text, false))
		}
	}
	return parts
}

// reply draws a reply as Markdown, or as paragraphs if it could be taken for a card.
func reply(text string) (all []message) {
	parts, block := markdown(text), func(part string) api.Block { return api.NewMarkdownBlock("", part) }
	like := chat.LooksLikeCard(text)
	if like {
		parts, block = chattext.Split(text, maxMarkdown), paragraphs
	}
	for _, part := range parts {
		m := message{Blocks: []api.Block{block(part)}, markdown: part}
		if like {
			m.markdown = escapeBrackets.Replace(part)
		}
		m.Text = excerpt(stripMarkdown.Replace(m.markdown))
		all = append(all, m)
	}
	return all
}

// paragraphs draws a text as it is, without its Markdown, but for boxes around code. Slack parses nothing in it.
func paragraphs(text string) api.Block {
	var elements []api.RichTextElement
	var fences chattext.Fences
	words, code := "", ""
	flush := func() {
		if strings.TrimSpace(words) != "" {
			elements = append(elements, api.NewRichTextSection(literal(defuse(words))))
		}
		if code != "" {
			elements = append(elements, preformatted(strings.TrimSuffix(code, "\n")))
		}
		words, code = "", ""
	}
	for line := range strings.Lines(text) {
		switch fences.Next(line) {
		case chattext.OutsideFence:
			words += line
		case chattext.InsideFence:
			code += line
		default:
			flush()
		}
	}
	flush()
	return api.NewRichTextBlock("", elements...)
}

// cut cuts Markdown into parts that fit a message, each with one table at most: Slack takes no second one.
func cut(text string) []string {
	var parts []string
	for _, piece := range perTable(text) {
		parts = append(parts, chattext.Split(piece, maxMarkdown)...)
	}
	return parts
}

// tableRule is the line between a table's head and its rows.
var tableRule = regexp.MustCompile(`^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$`)

// perTable cuts Markdown after each table that another one follows. So what is between two tables, such as a heading, stays with the second.
func perTable(text string) []string {
	if !strings.Contains(text, "|") {
		return []string{text}
	}
	var pieces []string
	var fences chattext.Fences
	from, at, end := 0, 0, 0 // where the piece, the line, and what follows the piece's table begin
	before, inTable := "", false
	for line := range strings.Lines(text) {
		row := ""
		if fences.Next(line) == chattext.OutsideFence {
			row = strings.TrimSpace(line[len(quoteSigns.FindString(line)):])
		}
		isRow := strings.Contains(row, "|")
		if !inTable && isRow && strings.Contains(before, "|") && tableRule.MatchString(row) {
			if end > from {
				pieces, from = append(pieces, text[from:end]), end
			}
			inTable = true
		}
		at += len(line)
		if inTable = inTable && isRow; inTable {
			end = at
		}
		before = row
	}
	return append(pieces, text[from:])
}

// neutral removes what has an effect outside the text when Slack shows it in a markdown block:
//
//   - Slack parses its own tokens there, <!channel> and <https://x|y>, even in code. It shows &lt; as < and does not parse the result
//     again. So all angle brackets are escaped, except quote signs. The ampersand is not: escaping it would gain nothing and break URLs.
//   - A space is inserted into a link, an image or a link definition, so that it becomes text with a visible URL: [text] (https://x).
//   - @here and similar mentions: see defuseMentions.
//
// With keepCode the last two skip what every parser reads as code: see codeFinder. The text must be clean.
func neutral(text string, keepCode bool) string {
	if isNeutral(text) {
		return text
	}
	var b strings.Builder
	s := codeFinder{keep: keepCode}
	for _, line := range strings.SplitAfter(text, "\n") {
		if s.code(line) {
			b.WriteString(escapeBrackets.Replace(line))
			continue
		}
		quote := quoteSigns.FindString(line)
		b.WriteString(quote)
		line = line[len(quote):]
		at := 0
		for _, span := range s.spans(line, quote != "") {
			b.WriteString(neutralText(line[at:span[0]]))
			b.WriteString(escapeBrackets.Replace(line[span[0]:span[1]]))
			at = span[1]
		}
		b.WriteString(neutralText(line[at:]))
	}
	return b.String()
}

var links = strings.NewReplacer("](", "] (", "][", "] [", "]:", "] :")

func neutralText(s string) string {
	if isNeutral(s) {
		return s
	}
	return defuseMentions(links.Replace(escapeBrackets.Replace(s)))
}

// isNeutral reports whether a text has no character that neutral changes, or puts something behind.
func isNeutral(s string) bool { return !strings.ContainsAny(s, "<>]@") }

// quoteSigns are the quote signs at the beginning of a line.
var quoteSigns = regexp.MustCompile(`^(?: {0,3}>)*`)

// codeFinder processes a text line by line and finds what every Markdown parser reads as code.
type codeFinder struct {
	keep   bool // false: it finds none
	fences chattext.Fences
	mixed  bool // the block contains something that a parser might read as its end
	loose  bool // a backtick of this paragraph has no partner on its line
}

// code reports whether a line belongs to a block between fences of backticks at the margin, with no further such fence inside.
func (s *codeFinder) code(line string) bool {
	switch s.fences.Next(line) {
	case chattext.OpensFence:
		s.mixed = !s.fences.AtMargin()
		return false
	case chattext.InsideFence:
		s.mixed = s.mixed || strings.Contains(line, "```") || strings.Contains(line, "~~~")
		return s.keep && !s.mixed
	case chattext.ClosesFence:
		s.loose = s.mixed
	}
	return false
}

// spans returns the code spans of a line, between single or double backticks. All backticks of the line, and of the paragraph's lines
// before it, must have their partner on the same line. A span with a bar is left out, as a table might cut it, and one with an
// unbalanced bracket, as a link might. An empty line ends a paragraph, but one with quote signs does not for every parser.
func (s *codeFinder) spans(line string, quoted bool) [][2]int {
	if !quoted && strings.Trim(line, " \t\r\n") == "" { // nor does other white space
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
			if isWhole(line[opened:i]) {
				found = append(found, [2]int{opened, i + run})
			}
			open = 0
		}
		i += run
	}
	s.loose = s.loose || open != 0
	if s.loose || !s.keep || s.fences.Open() {
		return nil
	}
	return found
}

// isWhole reports whether a code span has no bar and only balanced brackets.
func isWhole(code string) bool {
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

// stripMarkdown turns a part of a reply into the words that are read aloud.
var stripMarkdown markdownStripper

type markdownStripper struct{}

// Replace removes the marks of headings, of bold text and of code from a harmless part. Code itself stays as it is.
func (markdownStripper) Replace(part string) string {
	if !strings.ContainsAny(part, "#*`~&") {
		return part
	}
	var b strings.Builder
	var fences chattext.Fences
	for _, line := range strings.SplitAfter(part, "\n") {
		switch fences.Next(line) {
		case chattext.InsideFence:
			b.WriteString(line)
		case chattext.OutsideFence:
			b.WriteString(stripLine(line))
		default:
			b.WriteString(fenceSigns.ReplaceAllString(line, ""))
		}
	}
	return unescapeBrackets.Replace(b.String())
}

var (
	headingSigns = regexp.MustCompile(`^ {0,3}#{1,6}[ \t]+`)
	fenceSigns   = regexp.MustCompile("```+|~~~+")
	codeSpan     = regexp.MustCompile("`+[^`]+`+")
)

// stripLine removes the marks from a line outside of code blocks. Two stars are kept if they have no partner on the line.
func stripLine(line string) string {
	if !strings.ContainsAny(line, "#*`") {
		return line
	}
	line = line[len(headingSigns.FindString(line)):]
	var b strings.Builder
	at, stars := 0, strings.Count(codeSpan.ReplaceAllString(line, ""), "**")
	words := func(s string) string {
		if stars%2 == 0 {
			s = strings.ReplaceAll(s, "**", "")
		}
		return s
	}
	for _, span := range codeSpan.FindAllStringIndex(line, -1) {
		b.WriteString(words(line[at:span[0]]))
		b.WriteString(strings.Trim(line[span[0]:span[1]], "`"))
		at = span[1]
	}
	b.WriteString(words(line[at:]))
	return b.String()
}
