package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gatehouse/cmd/bench/internal/report"
)

// local are the flags of the benches that send no events to bots.
type local struct {
	runs int // at first the default
	json bool
}

// parse reads the flags of a bench, with those that more adds. An error is one of usage.
func (l *local) parse(name string, args []string, stderr io.Writer, more func(*flag.FlagSet)) error {
	f := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&l.runs, "runs", max(l.runs, 1), "how often everything is measured, in turn")
	f.BoolVar(&l.json, "json", false, "write JSON in place of tables")
	more(f)
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if l.runs < 1 {
		return errors.New("--runs is 1 or more")
	}
	return nil
}

// numbers are the value of a flag: several numbers of things, separated by commas.
type numbers []int

// String writes them as they are read.
func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*n)), " ", ","), "[]")
}

// Set reads them.
func (n *numbers) Set(list string) error {
	*n = nil
	for word := range strings.SplitSeq(list, ",") {
		one, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || one < 1 {
			return fmt.Errorf("%q is not a number of things", word)
		}
		*n = append(*n, one)
	}
	return nil
}

// wide is how many rows fit beside each other, with their ratios.
const wide = 4

// print prints a table below its heading, or JSON.
func (l *local) print(
	out io.Writer, heading string, what map[string]any, columns []report.Column, rows []report.Row,
) error {
	if l.json {
		return report.JSON(out, what, columns, rows)
	}
	fmt.Fprintln(out, heading)
	if len(rows) > wide {
		return report.List(out, columns, rows)
	}
	return report.Table(out, columns, rows)
}
