package doc

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"gatehouse/adapters/internal/safetext"
)

// Parse returns a model's Markdown (GitHub's flavour) as blocks. Code is in them byte for byte. Outside of code an
// entity and a formula stay as they were typed, raw HTML is text, and so is the definition of a link: nothing is
// resolved that people could then not see. A line end is one.
//
// Time is bounded: a text that is too long, or nested too deeply, is paragraphs of its lines as they are. So is one at
// which the parser fails, since its fault must not keep people from the reply. Code of nothing but white space is left
// out.
func Parse(markdown string) []Block {
	markdown = safetext.Clean(markdown)
	if !isPlain(markdown) {
		if blocks := parsed(markdown); len(blocks) > 0 { // else it has nothing but marks
			return blocks
		}
	}
	return paragraphs(markdown)
}

// isPlain reports whether nothing in a text can be markup or an address, as in most short answers.
func isPlain(s string) bool {
	if strings.ContainsAny(s, "\\`*_~|[]<@\t") || strings.Contains(s, "://") || strings.Contains(s, "www.") {
		return false
	}
	for line := range strings.Lines(s) {
		if strings.IndexByte(" -+=>#0123456789", line[0]) >= 0 || strings.HasSuffix(line, " \n") {
			return false
		}
	}
	return true
}

// paragraphs is a text as it is, in paragraphs.
func paragraphs(s string) (all []Block) {
	for part := range strings.SplitSeq(s, "\n\n") {
		if part = strings.Trim(part, "\n"); strings.TrimSpace(part) != "" {
			all = append(all, verbatim(part))
		}
	}
	return all
}

// verbatim is a text as it is, in one paragraph.
func verbatim(s string) Block {
	b := Block{Kind: Paragraph}
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.Spans = append(b.Spans, Span{Kind: Break})
		}
		if line != "" {
			b.Spans = append(b.Spans, Span{Kind: Words, Text: line})
		}
	}
	return b
}

// parsed are the blocks of a text, nil if it can't be parsed.
func parsed(s string) (blocks []Block) {
	defer func() {
		if recover() != nil {
			blocks = nil
		}
	}()
	if tangled(s) {
		return nil
	}
	source := []byte(s)
	if blocks = (reader{source}).blocks(whole.Parse(text.NewReader(source))); depth(blocks) > maxDepth {
		return nil
	}
	return blocks
}

// reader makes blocks of what the parser found in a source.
type reader struct{ source []byte }

func (r reader) blocks(in ast.Node) (all []Block) {
	for n := in.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Blockquote:
			if in := r.blocks(n); len(in) > 0 {
				all = append(all, Block{Kind: Quote, Items: [][]Block{in}})
			}
		case *ast.List:
			all = append(all, r.list(n))
		case *ast.ThematicBreak:
			all = append(all, Block{Kind: Rule})
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if code := r.code(n); strings.TrimSpace(code.Code) != "" {
				all = append(all, code)
			}
		case *table.Table:
			all = append(all, r.table(n))
		default: // a paragraph, a heading, or the text of an item
			b := Block{Kind: Paragraph, Spans: r.spans(n)}
			if heading, ok := n.(*ast.Heading); ok {
				b.Kind, b.Level = Heading, heading.Level
			}
			if strings.TrimSpace(OneLine(b.Spans)) != "" {
				all = append(all, b)
			}
		}
	}
	return all
}

// language matches the first word of an info string that names a language.
var language = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,20}$`)

func (r reader) list(n *ast.List) Block {
	b := Block{Kind: List, First: NoNumbers}
	if n.IsOrdered() {
		b.First = n.Start
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		in := r.blocks(item)
		if len(in) > 0 && in[0].Kind == Paragraph && in[0].Spans[0].Kind == Words && in[0].Spans[0].Style == 0 {
			words := &in[0].Spans[0].Text
			if box := checkBox.FindString(*words); box != "" {
				*words = map[bool]string{true: "☐ ", false: "☑ "}[box[1] == ' '] + (*words)[len(box):]
			}
		}
		b.Items = append(b.Items, in)
	}
	return b
}

// checkBox matches what makes an item a task.
var checkBox = regexp.MustCompile(`^\[[ xX]\](?:\s+|$)`)

func (r reader) code(n ast.Node) Block {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(r.source))
	}
	code := Block{Kind: CodeBlock, Code: b.String()}
	if fenced, ok := n.(*ast.FencedCodeBlock); ok && fenced.Info != nil {
		code.Lang = language.FindString(string(fenced.Language(r.source)))
		// the code stands behind the fence
		if info := string(fenced.Info.Value(r.source)); code.Code == "" && info != code.Lang {
			code.Code, code.Lang = info, ""
		}
	}
	return code
}

// spans are the spans in a node.
func (r reader) spans(in ast.Node) []Span { return joined(r.all(in, Span{}, nil)) }

// all appends the spans in a node. like has the style and the address of what is around it.
func (r reader) all(in ast.Node, like Span, all []Span) []Span {
	for n := in.FirstChild(); n != nil; n = n.NextSibling() {
		all = r.span(n, like, all)
	}
	return all
}

func (r reader) span(n ast.Node, like Span, all []Span) []Span {
	like.Kind = Words
	switch n := n.(type) {
	case *ast.Text:
		value := n.Value(r.source)
		if !n.IsRaw() {
			value = escape.ReplaceAll(value, []byte("$1$2"))
		}
		like.Text = string(value)
		if all = append(all, like); n.SoftLineBreak() || n.HardLineBreak() {
			all = append(all, Span{Kind: Break, To: like.To})
		}
		return all
	case *ast.CodeSpan:
		like.Kind, like.Text = Code, r.plain(n)
		return append(all, like)
	case *ast.Emphasis:
		like.Style |= map[int]Style{1: Italic, 2: Bold}[n.Level]
	case *table.Strikethrough:
		like.Style |= Struck
	case *ast.AutoLink:
		return append(all, r.autoLink(n, like))
	case *ast.Link:
		return r.link(n, n.Destination, like, all)
	case *ast.Image:
		like.Text = "image: "
		return r.link(n, n.Destination, like, append(all, like))
	}
	return r.all(n, like, all)
}

// link appends a link whose text is in a node. One without a text shows its address. There is no link in another one:
// that is words.
func (r reader) link(n ast.Node, address []byte, like Span, all []Span) []Span {
	to := string(util.UnescapePunctuations(address))
	linked := like
	if like.To == "" {
		linked.To = to
	}
	before := len(all)
	if all = r.all(n, linked, all); len(all) == before {
		linked.Text = to
		all = append(all, linked)
	} else if like.To != "" && to != "" {
		like.Text = " (" + to + ")"
		all = append(all, like)
	}
	return all
}

// autoLink is an address in the text, whose text is the address itself. One of another scheme may be anything between
// angle brackets.
func (r reader) autoLink(n *ast.AutoLink, like Span) Span {
	like.Text = string(n.Label(r.source))
	scheme, _, _ := strings.Cut(strings.ToLower(like.Text), ":")
	switch mail := n.AutoLinkType == ast.AutoLinkEmail; {
	case !mail && !slices.Contains(schemes, scheme) && !strings.HasPrefix(scheme, "www."):
		like.Text = "<" + like.Text + ">"
	case like.To != "":
	case mail && scheme != "mailto":
		like.To = "mailto:" + like.Text
	default:
		like.To = string(n.URL(r.source))
	}
	return like
}

// schemes are those of addresses.
var schemes = []string{"http", "https", "ftp", "mailto"}

// plain is the text in a node, on one line.
func (r reader) plain(in ast.Node) string {
	var b strings.Builder
	for n := in.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok {
			b.Write(t.Value(r.source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// joined joins neighbours that are alike but for their text, and leaves out empty ones.
func joined(all []Span) (spans []Span) {
	for i := 0; i < len(all); {
		s := all[i]
		if i++; s.Kind == Words {
			words := []string{s.Text}
			for ; i < len(all) && all[i].Kind == Words && all[i].Style == s.Style && all[i].To == s.To; i++ {
				words = append(words, all[i].Text)
			}
			s.Text = strings.Join(words, "")
		}
		if s.Kind != Words || s.Text != "" {
			spans = append(spans, s)
		}
	}
	return spans
}
