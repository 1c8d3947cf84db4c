package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"gatehouse/adapters/console"
)

// Cell is one text in a table: clean, and on one line.
func Cell(s string) string {
	s = strings.Join(strings.Fields(console.Sanitize(s)), " ")
	if s == "" {
		return "-"
	}
	return s
}

// shortWidth is how many characters of a sentence a table shows.
const shortWidth = 60

// Short cuts a sentence for a table. Names and ids are never cut, because people copy them.
func Short(s string) string {
	s = Cell(s)
	if utf8.RuneCountInString(s) > shortWidth {
		s = string([]rune(s)[:shortWidth-1]) + "…"
	}
	return s
}

// Table prints rows under a header, or the sentence none where there are no rows.
func (a *App) Table(none string, header []string, rows [][]string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(a.Out, none)
		return err
	}
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(header, "\t"))
	for _, row := range rows {
		for i := range row {
			row[i] = Cell(row[i])
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// Fields prints names and their values, one a line; empty values are left out. Further lines of a value are indented.
func (a *App) Fields(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(a.Out, "%-*s %s\n", FieldWidth-1, pairs[i]+":", Indent(pairs[i+1]))
		}
	}
}

// FieldWidth is the column where the values of fields begin.
const FieldWidth = 14

// Indent cleans a text and indents the lines after its first to the column of values.
func Indent(s string) string {
	return strings.ReplaceAll(strings.TrimRight(console.Sanitize(s), "\n"), "\n", "\n"+strings.Repeat(" ", FieldWidth))
}

// PrintLine prints a line.
func (a *App) PrintLine(format string, args ...any) {
	fmt.Fprintln(a.Out, console.Sanitize(fmt.Sprintf(format, args...)))
}

// Warn prints a sentence to standard error, after the program's name.
func (a *App) Warn(sentence string) { a.PrintError("gatehouse: %s", sentence) }

// PrintError prints a line to standard error.
func (a *App) PrintError(format string, args ...any) {
	fmt.Fprintln(a.Err, console.Sanitize(fmt.Sprintf(format, args...)))
}

// Stamp formats a time in the local zone, which it names; "" for none.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}
