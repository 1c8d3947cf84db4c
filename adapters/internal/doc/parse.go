package doc

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"gatehouse/adapters/internal/chat"
)

// Parse returns a model's Markdown (GitHub's flavour) as blocks. Code is in them byte for byte. Outside of code an entity stays as it was
// typed, raw HTML is text, and so is the definition of a link: nothing is resolved that people could then not see. A line end is one.
//
// Time is bounded: a text that is too long, or nested too deeply, is paragraphs of its lines as they are. So is one at which the parser
// fails, since its fault must not keep people from the reply. Code of nothing but white space is left out.
func Parse(markdown string) []Block {
	markdown = chat.Clean(markdown)
	if strings.TrimSpace(markdown) == "" {
		return nil
	}
	if isPlain(markdown) || len(markdown) > maxText || tangled(markdown) {
		return paragraphs(markdown)
	}
	if blocks, ok := parsed([]byte(markdown)); ok && len(blocks) > 0 { // else it has nothing but marks
		return blocks
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

func parsed(source []byte) (blocks []Block, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if knotted(outline.Parse(text.NewReader(source)), source, 0) {
		return nil, false
	}
	return reader{source}.blocks(whole.Parse(text.NewReader(source))), true
}

// reader makes blocks of what the parser found in a source.
type reader struct{ source []byte }

func (r reader) blocks(in ast.Node) (all []Block) {
	for n := in.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			if spans := r.spans(n, Span{}); !isBlank(spans) {
				all = append(all, Block{Kind: Heading, Level: n.Level, Spans: spans})
			}
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
		default: // a paragraph, or the text of an item
			if spans := r.spans(n, Span{}); !isBlank(spans) {
				all = append(all, Block{Kind: Paragraph, Spans: spans})
			}
		}
	}
	return all
}

func isBlank(spans []Span) bool { return strings.TrimSpace(OneLine(spans)) == "" }

// language matches the first word of an info string that names a language.
var language = regexp.MustCompile(`^[A-Za-z0-9_+#.-]{1,20}$`)

func (r reader) list(n *ast.List) Block {
	b := Block{Kind: List, First: NoNumbers}
	if n.IsOrdered() {
		b.First = n.Start
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		b.Items = append(b.Items, r.blocks(item))
	}
	return b
}

func (r reader) code(n ast.Node) Block {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(r.source))
	}
	code := Block{Kind: CodeBlock, Code: b.String()}
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		code.Lang = language.FindString(string(fenced.Language(r.source)))
	}
	return code
}

// spans are the spans in a node. like has the style and the address of what is around it.
func (r reader) spans(in ast.Node, like Span) (all []Span) {
	for n := in.FirstChild(); n != nil; n = n.NextSibling() {
		all = append(all, r.span(n, like)...)
	}
	return joined(all)
}

func (r reader) span(n ast.Node, like Span) []Span {
	like.Kind = Words
	words := func(text string) []Span {
		like.Text = text
		return []Span{like}
	}
	switch n := n.(type) {
	case *ast.Text:
		value := n.Value(r.source)
		if !n.IsRaw() {
			value = util.UnescapePunctuations(value)
		}
		all := words(string(value))
		if n.SoftLineBreak() || n.HardLineBreak() {
			all = append(all, Span{Kind: Break, To: like.To})
		}
		return all
	case *ast.String:
		return words(string(n.Value))
	case *ast.CodeSpan:
		like.Kind = Code
		return words(r.plain(n))
	case *ast.Emphasis:
		like.Style |= map[int]Style{1: Italic, 2: Bold}[n.Level]
	case *table.Strikethrough:
		like.Style |= Struck
	case *table.TaskCheckBox:
		return words(map[bool]string{false: "☐ ", true: "☑ "}[n.IsChecked])
	case *ast.AutoLink:
		return r.autoLink(n, like)
	case *ast.Link:
		return r.link(n, string(n.Destination), like)
	case *ast.Image:
		return append(words("image: "), r.link(n, string(n.Destination), like)...)
	}
	return r.spans(n, like)
}

// link is a link whose text is in a node. One without a text shows its address. There is no link in another one: that is words.
func (r reader) link(n ast.Node, to string, like Span) []Span {
	to = string(util.UnescapePunctuations([]byte(to)))
	outer := like.To
	if outer == "" {
		like.To = to
	}
	all := r.spans(n, like)
	if len(all) == 0 {
		like.Kind, like.Text = Words, to
		return []Span{like}
	}
	if outer != "" && to != "" {
		like.Kind, like.Text = Words, " ("+to+")"
		all = append(all, like)
	}
	return all
}

// autoLink is an address in the text, whose text is the address itself. One of another scheme may be anything between angle brackets.
func (r reader) autoLink(n *ast.AutoLink, like Span) []Span {
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
	return []Span{like}
}

// schemes are those of addresses.
var schemes = []string{"http", "https", "ftp", "mailto"}

// plain is the text in a node, on one line.
func (r reader) plain(in ast.Node) string {
	var b strings.Builder
	for n := in.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok {
			b.WriteString(strings.TrimSuffix(string(t.Value(r.source)), "\n"))
			if t.SoftLineBreak() || strings.HasSuffix(string(t.Value(r.source)), "\n") {
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}

// joined joins neighbours that are alike but for their text, and leaves out empty ones.
func joined(all []Span) (spans []Span) {
	for _, s := range all {
		if s.Kind == Words && s.Text == "" {
			continue
		}
		if n := len(spans); n > 0 && s.Kind == Words && spans[n-1].Kind == Words && spans[n-1].Style == s.Style && spans[n-1].To == s.To {
			spans[n-1].Text += s.Text
			continue
		}
		spans = append(spans, s)
	}
	return spans
}
