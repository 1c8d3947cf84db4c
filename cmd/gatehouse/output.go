package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"gatehouse/adapters/console"
)

// cell is one text in a table: clean, and on one line.
func cell(s string) string {
	s = strings.Join(strings.Fields(console.Clean(s)), " ")
	if s == "" {
		return "-"
	}
	return s
}

// shortWidth is how much of a sentence a table shows.
const shortWidth = 60

// short cuts a sentence for a table. Names and ids are never cut: people copy them.
func short(s string) string {
	s = cell(s)
	if utf8.RuneCountInString(s) > shortWidth {
		s = string([]rune(s)[:shortWidth-1]) + "…"
	}
	return s
}

// table prints rows under a header; without rows it says so.
func (a *app) table(none string, header []string, rows [][]string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.std.Out, none)
		return err
	}
	w := tabwriter.NewWriter(a.std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(header, "\t"))
	for _, row := range rows {
		for i := range row {
			row[i] = cell(row[i])
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// fields prints names and their values, one a line; empty ones are left out. What has several lines is indented.
func (a *app) fields(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(a.std.Out, "%-12s %s\n", pairs[i]+":", indent(pairs[i+1], 13))
		}
	}
}

// indent cleans a text and sets its lines after the first in.
func indent(s string, by int) string {
	return strings.ReplaceAll(strings.TrimRight(console.Clean(s), "\n"), "\n", "\n"+strings.Repeat(" ", by))
}

// say prints a sentence.
func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.std.Out, console.Clean(fmt.Sprintf(format, args...)))
}

// warn prints a sentence beside what was asked for.
func (a *app) warn(sentence string) { fmt.Fprintln(a.std.Err, "gatehouse: "+console.Clean(sentence)) }

// json prints a value. Characters that a terminal might obey are escaped, which changes nothing for who reads the JSON.
func (a *app) json(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	_, err := fmt.Fprint(a.std.Out, harmless(b.String()))
	return err
}

// harmless escapes in a JSON text what a terminal might obey.
func harmless(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && r != 0x7f || console.Clean(string(r)) == string(r):
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// stamp shows a time as it is here; "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// list gives a slice that JSON shows as [] where there is nothing.
func list[T, V any](items []T, view func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = view(item)
	}
	return views
}
