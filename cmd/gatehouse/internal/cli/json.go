package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"gatehouse/adapters/console"
)

// PrintJSON prints a value as indented JSON.
func (a *App) PrintJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return a.PrintRaw(b.String())
}

// PrintRaw prints JSON text as it is laid out. Characters that a terminal might obey are escaped; the JSON's meaning
// stays the same.
func (a *App) PrintRaw(text string) error {
	_, err := io.WriteString(a.Out, escape(text))
	return err
}

// escape writes what a terminal might obey as \u escapes.
func escape(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf && r != 0x7f || console.Sanitize(string(r)) == string(r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// List converts a slice for output. It is never nil, so that JSON shows [] where there is nothing.
func List[T, V any](items []T, view func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = view(item)
	}
	return views
}
