package prompt

import (
	"strings"
	"unicode/utf8"
)

// frontMatter is the line before and after a text file's header.
const frontMatter = "---"

// readText reads a .txt or .md file.
func (r *reader) readText(v *version) {
	text, ok := r.open(v.file)
	if !ok {
		return
	}
	begins := origin{line: 1, column: 1, verbatim: true}
	v.silent = true
	if head, rest, found := strings.Cut(text, "\n"); found && head == frontMatter {
		header, body, closed := strings.Cut("\n"+rest, "\n"+frontMatter+"\n")
		if !closed {
			r.FaultAt(1, 1, "add a line --- after the labels and sampling", "the header that begins here has no end")
			return
		}
		begins.line = 3 + strings.Count(header, "\n")
		text = body
		// Its lines are the file's: header begins with a line break in place of the first one.
		if root := r.Parse([]byte(header), ""); root != nil {
			r.readHead(v, root, "the header")
		}
	}
	v.Template = strings.TrimSuffix(text, "\n")
	r.checkTemplate(begins, v.Template)
}

// open reads a file of text. The carriage returns of line breaks are dropped.
func (r *reader) open(path string) (text string, ok bool) {
	r.File = path
	data, ok := r.ReadFile()
	if !ok {
		return "", false
	}
	if !utf8.Valid(data) {
		r.Fault(nil, "save it as UTF-8", "the file is not encoded in UTF-8")
		return "", false
	}
	text = strings.ReplaceAll(string(data), "\r\n", "\n")
	if strings.TrimSpace(text) == "" {
		r.Fault(nil, "write the prompt into it", "the file is empty")
		return "", false
	}
	return text, true
}
