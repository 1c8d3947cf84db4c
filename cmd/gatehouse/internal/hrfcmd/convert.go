package hrfcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"gatehouse/adapters/console"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core/hrf"
	"gatehouse/core/hrf/native"
)

// Convert is gatehouse hrf convert.
type Convert struct {
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

// Run prints the file in the other form.
func (c Convert) Run(a *cli.App) error {
	text, err := readFile(a, c.File)
	if err != nil {
		return err
	}
	if c.To == "native" {
		return c.toNative(a, text)
	}
	return c.toJSON(a, text)
}

func (c Convert) toNative(a *cli.App, text []byte) error {
	envelope, report := hrf.Parse(text, c.Profile)
	if !report.Valid() {
		return reported(a, c.File, report)
	}
	out, err := native.Write(envelope)
	var lost *native.LossError
	if errors.As(err, &lost) {
		for _, l := range lost.Losses {
			a.PrintError("%s: %s: the token form can't hold %s", c.File, l.Pointer, l.Reason)
		}
		return cli.Exit(cli.ExitBad, cli.ErrReported)
	}
	if console.IsTerminal(a.Out) {
		out = []byte(console.Sanitize(string(out)))
	}
	_, err = a.Out.Write(out)
	return err
}

func (c Convert) toJSON(a *cli.App, text []byte) error {
	envelope, omitted, err := native.Read(text)
	var fault *native.SyntaxError
	if errors.As(err, &fault) {
		a.PrintError("%s:%d:%d: %s", c.File, fault.Line, fault.Column, withHint(fault.Reason, fault.Hint))
		return cli.Exit(cli.ExitBad, cli.ErrReported)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, envelope, "", "  "); err != nil {
		return fmt.Errorf("laying out JSON: %w", err)
	}
	if err := a.PrintRaw(out.String() + "\n"); err != nil {
		return err
	}
	for _, o := range omitted {
		a.PrintError("%s:%d:%d: warning: left out: %s", c.File, o.Line, o.Column, o.What)
	}
	if _, report := hrf.Parse(out.Bytes(), c.Profile); !report.Valid() {
		return reported(a, "output", report)
	}
	return nil
}

func withHint(reason, hint string) string {
	if hint == "" {
		return reason
	}
	return reason + "; " + hint
}

// reported prints the errors of a report and ends the command with exit code 1.
func reported(a *cli.App, file string, report *hrf.Report) error {
	printFindings(a, file, report.Errors)
	return cli.Exit(cli.ExitBad, cli.ErrReported)
}
