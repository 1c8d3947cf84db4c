package hrfcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gatehouse/adapters/console"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core/hrf"
	"gatehouse/core/hrf/native"
)

// Convert is gatehouse hrf convert.
type Convert struct {
	cli.JSONFlag
	File    string      `arg:"" help:"The file to convert, or - for standard input."`
	To      string      `required:"" enum:"json,native" placeholder:"json|native" help:"${convert_to}"`
	Profile hrf.Profile `enum:"strict,compat" default:"strict" help:"${convert_profile}"`
}

// Help says more than one line.
func (Convert) Help() string {
	return "An envelope that the token form can't hold is refused with the reasons. In the other direction, what an " +
		"envelope can't hold is left out with " +
		"a warning, and messages that do not make a valid envelope are converted all the same, with their faults at " +
		"their places in the output. " +
		"Exit code 1: the file is invalid or was refused."
}

// conversion is the JSON output: the other form, "" where the file was refused, and what was said of it.
type conversion struct {
	Output   string        `json:"output"`
	Errors   []hrf.Finding `json:"errors"`
	Warnings []hrf.Finding `json:"warnings"`

	said []string // the same for people
}

// Run prints the file in the other form.
func (c Convert) Run(a *cli.App) error {
	text, err := readFile(a, c.File)
	if err != nil {
		return err
	}
	v := conversion{Errors: []hrf.Finding{}, Warnings: []hrf.Finding{}}
	if c.To == "native" {
		err = v.toNative(c, text)
	} else {
		err = v.toJSON(c, text)
	}
	if err == nil {
		err = v.print(a, c)
	}
	if err == nil && len(v.Errors) > 0 {
		return cli.Exit(cli.ExitBad, cli.ErrReported)
	}
	return err
}

func (v *conversion) print(a *cli.App, c Convert) (err error) {
	switch {
	case c.JSON:
		return a.PrintJSON(v)
	case c.To == "json":
		err = a.PrintRaw(v.Output)
	case console.IsTerminal(a.Out):
		_, err = io.WriteString(a.Out, console.Sanitize(v.Output))
	default:
		_, err = io.WriteString(a.Out, v.Output)
	}
	for _, line := range v.said {
		a.PrintError("%s", line)
	}
	return err
}

func (v *conversion) toNative(c Convert, text []byte) error {
	envelope, report := hrf.Parse(text, c.Profile)
	if v.refused(c.File, report); len(v.Errors) > 0 {
		return nil
	}
	out, err := native.Write(envelope)
	var lost *native.LossError
	if errors.As(err, &lost) {
		for _, l := range lost.Losses {
			f := hrf.Finding{Message: "the token form can't hold " + l.Reason, Pointer: l.Pointer}
			v.Errors = append(v.Errors, f)
			v.said = append(v.said, fmt.Sprintf("%s: %s: %s", c.File, f.Pointer, f.Message))
		}
		return nil
	}
	v.Output = string(out)
	return err
}

func (v *conversion) toJSON(c Convert, text []byte) error {
	envelope, omitted, err := native.Read(text)
	var fault *native.SyntaxError
	if errors.As(err, &fault) {
		f := hrf.Finding{Message: fault.Reason, Hint: fault.Hint, Line: fault.Line, Column: fault.Column}
		v.Errors = append(v.Errors, f)
		v.said = append(v.said, fmt.Sprintf("%s:%d:%d: %s", c.File, f.Line, f.Column, withHint(f.Message, f.Hint)))
		return nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, envelope, "", "  "); err != nil {
		return fmt.Errorf("laying out JSON: %w", err)
	}
	v.Output = out.String() + "\n"
	for _, o := range omitted {
		f := hrf.Finding{Message: "left out: " + o.What, Line: o.Line, Column: o.Column}
		v.Warnings = append(v.Warnings, f)
		v.said = append(v.said, f.In(c.File, "warning"))
	}
	_, report := hrf.Parse(out.Bytes(), c.Profile)
	v.refused("output", report)
	return nil
}

// refused adds the errors of a report.
func (v *conversion) refused(file string, report *hrf.Report) {
	v.Errors = append(v.Errors, report.Errors...)
	for _, f := range report.Errors {
		v.said = append(v.said, f.In(file, string(f.Code)))
	}
}

func withHint(reason, hint string) string {
	if hint == "" {
		return reason
	}
	return reason + "; " + hint
}
