package fakeserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// JSON returns a value as JSON, with < and > unescaped.
func JSON(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("fakeserver: " + err.Error())
	}
	return bytes.TrimSpace(out.Bytes())
}

// Indented returns a value as indented JSON, for golden files.
func Indented(value any) string {
	var out bytes.Buffer
	if err := json.Indent(&out, JSON(value), "", "  "); err != nil {
		panic("fakeserver: " + err.Error())
	}
	return out.String()
}

// DumpMessage writes a message into a dump: its head, first line and marks on one line, its other lines below.
func DumpMessage(out *strings.Builder, margin, head, shown, marks string) {
	lines := strings.Split(shown, "\n")
	fmt.Fprintf(out, "%s%s: %s%s\n", margin, head, lines[0], marks)
	for _, line := range lines[1:] {
		fmt.Fprintf(out, "%s  %s\n", strings.Repeat(" ", len(margin)), line)
	}
}

// Numbers replaces ids that differ from run to run with numbers, in the order in which they are found.
type Numbers map[string]string

// Replace numbers the matches of the pattern in a text. kind returns the word before the number of a match; "" leaves
// the match unchanged.
func (n Numbers) Replace(text string, pattern *regexp.Regexp, kind func(found string) string) string {
	return pattern.ReplaceAllStringFunc(text, func(found string) string {
		word := kind(found)
		if word == "" {
			return found
		}
		if n[found] == "" {
			n[found] = fmt.Sprintf("%s%d", word, len(n)+1)
		}
		return n[found]
	})
}

// Collect returns the messages of the records for which pick returns true, in order.
func Collect[R, M any](records []R, pick func(R) (M, bool)) []M {
	var found []M
	for _, r := range records {
		if m, ok := pick(r); ok {
			found = append(found, m)
		}
	}
	return found
}

// FirstWith returns the first message that shows the text.
func FirstWith[M interface{ Shown() string }](messages []M, text string) (found M, is bool) {
	for _, m := range messages {
		if strings.Contains(m.Shown(), text) {
			return m, true
		}
	}
	return found, false
}
