package hrfcmd

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core/hrf"
	"gatehouse/core/hrf/interp"
)

// print prints a run for people: the steps as a table, then the final text, or the fault on standard error.
func (c Run) print(a *cli.App, out ran) error {
	rows, calls := make([][]string, len(out.Trace)), out.ToolCalls
	for i, e := range out.Trace {
		call := ""
		if e.Recipient != "" {
			args, _ := json.Marshal(calls[0].Args) // JSON already
			call, calls = e.Recipient+" "+cli.Short(string(args)), calls[1:]
		}
		rows[i] = []string{where(e), e.Type, what(e, call)}
	}
	if err := a.Table("No step was executed.", []string{"WHERE", "STEP", "WHAT"}, rows); err != nil {
		return err
	}
	if out.Error != nil {
		printFault(a, c.File, out.Error)
		return nil
	}
	a.PrintLine("\n%s", out.FinalText)
	return nil
}

func where(e interp.Event) string {
	if e.Line > 0 {
		return "line " + strconv.Itoa(e.Line)
	}
	return e.Pointer
}

func what(e interp.Event, call string) string {
	parts := []string{e.Branch, e.Channel, call}
	if e.Set != nil {
		parts = append(parts, "sets "+strings.Join(e.Set, ", "))
	}
	if e.Model {
		parts = append(parts, "asks the model")
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// printFault prints the findings of an invalid envelope, or why a run failed.
func printFault(a *cli.App, file string, fault *hrf.Error) {
	switch details := fault.Details.(type) {
	case []hrf.Finding:
		printFindings(a, file, details)
	case interp.Details:
		if details.Line > 0 {
			file += ":" + strconv.Itoa(details.Line) + ":" + strconv.Itoa(details.Column)
		} else if details.Pointer != "" {
			file += ": " + details.Pointer
		}
		message := fault.Error()
		if details.Recipients != nil {
			message += "; --tools gives a dry run its tools"
		}
		a.PrintError("%s: %s", file, message)
	}
}

// printFindings prints errors on standard error.
func printFindings(a *cli.App, file string, errors []hrf.Finding) {
	for _, f := range errors {
		a.PrintError("%s", f.In(file, string(f.Code)))
	}
}
