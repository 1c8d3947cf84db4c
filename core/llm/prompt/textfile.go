package prompt

import (
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxFile is the largest file that is read.
const maxFile = 1 << 20

// readText reads a file of text. A byte order mark and the carriage returns of line breaks are dropped.
func (f *faults) readText(path string) (text string, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		f.add(path, 0, "correct the path, or let gatehouse read the file", "the file can't be read: %v", reasonOf(err))
		return "", false
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	switch {
	case err != nil:
		f.add(path, 0, "name a file that gatehouse can read", "the file can't be read: %v", reasonOf(err))
	case len(data) > maxFile:
		f.add(path, 0, "keep it under 1 MiB", "the file is too large")
	case !utf8.Valid(data):
		f.add(path, 0, "save it as UTF-8", "the file is not encoded in UTF-8")
	default:
		text = strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
		if strings.TrimSpace(text) != "" {
			return text, true
		}
		f.add(path, 0, "write the prompt into it", "the file is empty")
	}
	return "", false
}

// reasonOf is an error of the file system without the path, which its fault begins with.
func reasonOf(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// checkTemplate reports a template whose expressions are not valid, or that has no text. line is where it begins. Where line breaks of the
// template are none of the file, as in folded YAML, all of it counts as in that line.
func (f *faults) checkTemplate(file string, line int, folded bool, template string) {
	if template == "" {
		f.add(file, line, "write its text", "the template is empty")
		return
	}
	_, err := parse(template)
	if syntax := (*syntaxError)(nil); errors.As(err, &syntax) {
		if !folded {
			line += strings.Count(template[:syntax.at], "\n")
		}
		what, do, _ := strings.Cut(syntax.reason, "; ")
		if do == "" {
			do = "close it"
		}
		f.add(file, line, do, "%s", what)
	}
}
