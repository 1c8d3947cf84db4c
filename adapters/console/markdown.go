package console

import (
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/doc"
)

// drawing draws a reply's blocks at a prompt, in lines within the style's width. With colours, code, headings and
// emphasis look different; without, they have Markdown's marks.
type drawing struct {
	style
	all []line
}

// drawn is a reply as lines within a width.
func (s style) drawn(markdown string, width int) []line {
	s.width = max(width, narrowest)
	d := drawing{style: s}
	d.blocks(doc.Parse(Sanitize(markdown)), nil, nil)
	return d.all
}

// blocks draws blocks, with first before the first line and others before those after it.
func (d *drawing) blocks(all []doc.Block, first, others line) {
	item := !slices.Equal(first, others)
	for i, b := range all {
		if i > 0 {
			if !doc.Tight(all[i-1], b, item) {
				d.all = append(d.all, others)
			}
			first = others
		}
		d.block(b, first, others)
	}
}

func (d *drawing) block(b doc.Block, first, others line) {
	switch b.Kind {
	case doc.Paragraph:
		d.put(first, others, d.lines(b.Spans, "")...)
	case doc.Heading:
		d.heading(b, first, others)
	case doc.Rule:
		d.put(first, others, line{{text: d.either(strings.Repeat("─", min(d.width/2, 30)), "---"), look: faint}})
	case doc.CodeBlock:
		d.code(b, first, others)
	case doc.Table:
		d.table(b, first, others)
	case doc.Quote:
		bar := piece{text: d.either("│ ", "> "), look: faint}
		d.blocks(b.Items[0], append(slices.Clip(first), bar), append(slices.Clip(others), bar))
	case doc.List:
		d.list(b, first, others)
	}
}

// either is how something is drawn with colours, or without.
func (d *drawing) either(colored, marked string) string {
	if d.color {
		return colored
	}
	return marked
}

func (d *drawing) put(first, others line, lines ...line) {
	d.all = append(d.all, framed(first, others, lines, d.width)...)
}

func (d *drawing) heading(b doc.Block, first, others line) {
	look := bold
	if b.Level == 1 {
		look += ";" + underlined
	}
	words := slices.Concat(d.lines(b.Spans, look)...)
	if !d.color {
		words = append(line{{text: strings.Repeat("#", b.Level) + " "}}, words...)
	}
	d.put(first, others, words)
}

// code draws code, which is broken at the edge of the terminal only.
func (d *drawing) code(b doc.Block, first, others line) {
	lines := strings.Split(strings.TrimSuffix(b.Code, "\n"), "\n")
	indent := piece{}
	if fence := doc.Fence(b.Code); !d.color {
		lines = slices.Concat([]string{fence + b.Lang}, lines, []string{fence})
	} else if indent.text = "  "; b.Lang != "" {
		d.put(first, others, line{{text: b.Lang, look: faint}})
		first = others
	}
	for _, l := range lines {
		for _, part := range (line{{text: tabs.Replace(l), look: cyan}}).cut(d.width - others.width() - 2) {
			d.all = append(d.all, slices.Concat(first, line{indent}, part))
			first = others
		}
	}
}

// table draws a table in aligned columns or, where that is too wide, as a list of its rows.
func (d *drawing) table(b doc.Block, first, others line) {
	grid, wide := doc.Grid(b)
	if wide > d.width-others.width() {
		d.blocks([]doc.Block{doc.Rows(b)}, first, others)
		return
	}
	for i, text := range strings.Split(strings.TrimSuffix(grid, "\n"), "\n") {
		look := map[int]string{0: bold, 1: faint}[i]
		d.put(first, others, line{{text: tabs.Replace(text), look: look}})
		first = others
	}
}

func (d *drawing) list(b doc.Block, first, others line) {
	for i, item := range b.Items {
		sign := d.either("• ", "- ")
		if b.First != doc.NoNumbers {
			sign = strconv.Itoa(b.First+i) + ". "
		}
		begin := append(slices.Clip(first), piece{text: sign})
		first = others
		if len(item) == 0 {
			d.put(begin, others, nil)
		}
		d.blocks(item, begin, append(slices.Clip(others), piece{text: strings.Repeat(" ", len([]rune(sign)))}))
	}
}

// lines are the lines of spans, which look like this besides their own styles.
func (d *drawing) lines(spans []doc.Span, look string) []line {
	all := []line{nil}
	for _, s := range doc.Shown(spans) {
		if s.Kind == doc.Break {
			all = append(all, nil)
			continue
		}
		p := piece{text: tabs.Replace(s.Text), look: look, whole: isAddress(s)}
		if last := all[len(all)-1]; s.Text == ")" && len(last) > 0 {
			p.whole = last[len(last)-1].whole // it ends an address that is shown behind its words
		}
		switch {
		case !d.color:
			s.Text = p.text
			p.text = doc.Marked(s)
		case s.Kind == doc.Code:
			p.look = looks(look, cyan)
		default:
			p.look = look
			for _, l := range looksOf {
				if s.Style&l.style != 0 {
					p.look = looks(p.look, l.look)
				}
			}
			if s.To != "" {
				p.look = looks(p.look, underlined)
			}
		}
		all[len(all)-1] = append(all[len(all)-1], p)
	}
	return all
}

// isAddress reports whether a span is an address and nothing that could look like a prompt's or a card's beginning.
func isAddress(s doc.Span) bool {
	return s.To != "" && !strings.ContainsFunc(s.Text, func(r rune) bool { return r <= ' ' || r >= '~' || r == '>' })
}

// looksOf are the looks of the styles.
var looksOf = []struct {
	style doc.Style
	look  string
}{{doc.Bold, bold}, {doc.Italic, italic}, {doc.Struck, struck}}

// looks joins two looks.
func looks(one, other string) string {
	if one == "" || one == other {
		return other
	}
	return one + ";" + other
}

// tabs makes tabs as wide as the pages have them: how wide a terminal's own are depends on where they stand.
var tabs = strings.NewReplacer("\t", "    ")
