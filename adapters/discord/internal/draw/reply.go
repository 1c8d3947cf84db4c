package draw

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
)

// replyForms are Discord's forms of what a reply has.
var replyForms = doc.Forms{Headings: 3, Columns: 60}

// maxFiles is how many files a message has at most (resources/message).
const maxFiles = 10

// drawReplies draws a reply or, if it could be taken for a card, its characters in paragraphs, with blocks of code.
//
// Nothing in it pings, since every message has empty allowed_mentions. Nor can it mislead: all of its text is escaped,
// so that it has no tokens, small text or links but those that show their address.
func drawReplies(text string, t *wording.Texts) (all []Message) {
	blocks := doc.Parse(text)
	if outbound.LooksLikeCard(text, t) {
		blocks = doc.Literal(text)
	}
	for _, part := range doc.Split(blocks, func(part []doc.Block) bool { return fits(drawReply(part)) }) {
		all = append(all, drawReply(part))
	}
	return all
}

func fits(m Message) bool {
	return max(safetext.Units(m.Text), safetext.Units(m.Plain)) <= MaxReply && len(m.Files) <= maxFiles
}

func drawReply(blocks []doc.Block) Message {
	blocks = replyForms.Drawable(blocks)
	w := replyWriter{}
	m := Message{Text: w.write(blocks), Files: w.files}
	if m.Files != nil {
		w = replyWriter{plain: true}
		m.Plain = w.write(blocks)
	}
	return m
}

// replyWriter writes the blocks of a reply in Discord's Markdown.
type replyWriter struct {
	strings.Builder
	files []file
	plain bool // code that no fence can hold is text
}

// write returns blocks as a text.
func (w *replyWriter) write(blocks []doc.Block) string {
	w.all(blocks, "", "")
	return strings.TrimSuffix(w.String(), "\n")
}

// all writes blocks, with this before the first line and that before the others.
func (w *replyWriter) all(blocks []doc.Block, first, others string) {
	for i, b := range blocks {
		if i > 0 {
			if others == "" && !tight(blocks[i-1], b) {
				w.WriteByte('\n')
			}
			first = others
		}
		w.block(b, first, others)
	}
}

// tight reports whether no empty line stands between two blocks. There is one after a list, which would otherwise go on
// in Discord.
func tight(before, after doc.Block) bool {
	return before.Kind == doc.Heading || before.Kind == doc.CodeBlock ||
		before.Kind == doc.Paragraph && (after.Kind == doc.CodeBlock || after.Kind == doc.List)
}

func (w *replyWriter) block(b doc.Block, first, others string) {
	switch b.Kind {
	case doc.Heading:
		w.WriteString(strings.Repeat("#", b.Level) + " " + strings.ReplaceAll(markdownOf(b.Spans), "\n", " ") + "\n")
	case doc.CodeBlock:
		w.code(b)
	case doc.Quote:
		w.all(b.Items[0], "> ", "> ")
	case doc.List:
		for i, item := range b.Items {
			sign := "- "
			if b.First != doc.NoNumbers {
				sign = strconv.Itoa(b.First+i) + ". "
			}
			if i > 0 {
				first = others
			}
			if len(item) == 0 {
				w.WriteString(first + sign + "\n")
			}
			w.all(item, first+sign, others+strings.Repeat(" ", len(sign)))
		}
	default:
		w.WriteString(first + strings.ReplaceAll(markdownOf(b.Spans), "\n", "\n"+others) + "\n")
	}
}

// code writes code between fences or, if these can't hold it, attaches it as a file. Without files it is text, between
// two lines that keep Discord from removing white space around it.
func (w *replyWriter) code(b doc.Block) {
	code := doc.CodeLines(b.Code)
	if !strings.Contains(code, "```") && !strings.HasPrefix(code, "\n") && !strings.HasSuffix(code, "\n\n") {
		w.WriteString("```" + b.Lang + "\n" + code + "```\n")
		return
	}
	f := file{fmt.Sprintf("code-%d.%s", len(w.files)+1, endingOf(b.Lang)), "text/plain; charset=utf-8", code}
	w.files = append(w.files, f)
	if w.plain {
		const at = "\x00"                                       // which no reply has
		text := escape(strings.ReplaceAll(code, "@", at), true) // without invisible characters
		w.WriteString("-# " + f.name + ":\n" + strings.ReplaceAll(text, at, `\@`) + noFiles)
		return
	}
	w.WriteString("(see " + f.name + ")\n")
}

// noFiles stands below code that is shown as text.
const noFiles = "-# ⚠️ This code is no file, since the bot lacks Attach Files.\n"

// endingOf returns how the name of a file in a language ends.
func endingOf(language string) string {
	known := map[string]string{
		"markdown": "md", "python": "py", "javascript": "js", "typescript": "ts", "bash": "sh", "shell": "sh",
		"ruby": "rb", "rust": "rs",
	}
	language = strings.ToLower(language)
	if ending := cmp.Or(known[language], language); simpleName.MatchString(ending) {
		return ending
	}
	return "txt"
}

var simpleName = regexp.MustCompile(`^[a-z0-9]{1,10}$`)
