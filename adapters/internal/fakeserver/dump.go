package fakeserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// JSON is a value as JSON in which < and > stand as they are.
func JSON(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("fakeserver: " + err.Error())
	}
	return bytes.TrimSpace(out.Bytes())
}

// Indented is a value as indented JSON, for golden files.
func Indented(value any) string {
	var out bytes.Buffer
	if err := json.Indent(&out, JSON(value), "", "  "); err != nil {
		panic("fakeserver: " + err.Error())
	}
	return out.String()
}

// DumpMessage writes a message into a dump: its head and first line, the marks behind that, the further lines below.
func DumpMessage(out *strings.Builder, margin, head, shown, marks string) {
	lines := strings.Split(shown, "\n")
	fmt.Fprintf(out, "%s%s: %s%s\n", margin, head, lines[0], marks)
	for _, line := range lines[1:] {
		fmt.Fprintf(out, "%s  %s\n", strings.Repeat(" ", len(margin)), line)
	}
}

// Numbers puts numbers in place of ids that differ from run to run, in the order in which they are found.
type Numbers map[string]string

// Replace numbers what the pattern finds in a text. kind is the word before the number of a find; "" leaves the find as it is.
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
