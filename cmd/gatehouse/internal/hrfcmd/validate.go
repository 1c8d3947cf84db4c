package hrfcmd

import (
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core/hrf"
)

// Validate is gatehouse hrf validate.
type Validate struct {
	cli.JSONFlag
	Files      []string    `arg:"" name:"file" help:"The envelopes; - is standard input."`
	Profile    hrf.Profile `enum:"strict,compat" default:"strict" help:"${validate_profile}"`
	StrictVars bool        `help:"Reading a variable that nothing can have set is an error, not a warning."`
}

// Help says more than one line.
func (Validate) Help() string {
	return "Findings are printed as FILE:LINE:COLUMN: CODE: MESSAGE, with the column in bytes; for a warning, CODE " +
		"is the word warning. " +
		"With --json, one file gives one object, {valid, error, errors, warnings}; several files give a list of " +
		"these, in order, each with its file. " +
		"Exit code 0: all files are valid, perhaps with warnings. 1: at least one is not."
}

// verdict is the JSON of one file.
type verdict struct {
	File     string        `json:"file,omitempty"` // if there are several
	Valid    bool          `json:"valid"`
	Error    *hrf.Error    `json:"error"`
	Errors   []hrf.Finding `json:"errors"`
	Warnings []hrf.Finding `json:"warnings"`
}

// Run checks the files. It prints nothing if one of them can't be read.
func (c Validate) Run(a *cli.App) error {
	texts := make([][]byte, len(c.Files))
	for i, file := range c.Files {
		var err error
		if texts[i], err = readFile(a, file); err != nil {
			return err
		}
	}
	all, valid := make([]verdict, len(c.Files)), true
	for i, text := range texts {
		all[i] = c.check(c.Files[i], text)
		valid = valid && all[i].Valid
	}
	if err := c.print(a, all); err != nil {
		return err
	}
	if !valid {
		return cli.Exit(cli.ExitBad, cli.ErrReported)
	}
	return nil
}

func (c Validate) check(file string, text []byte) verdict {
	var options []hrf.Option
	if c.StrictVars {
		options = append(options, hrf.StrictVars)
	}
	_, report := hrf.Parse(text, c.Profile, options...)
	return verdict{
		File: file, Valid: report.Valid(), Error: report.Err(),
		Errors: append([]hrf.Finding{}, report.Errors...), Warnings: append([]hrf.Finding{}, report.Warnings...),
	}
}

func (c Validate) print(a *cli.App, all []verdict) error {
	switch {
	case c.JSON && len(all) == 1:
		all[0].File = ""
		return a.PrintJSON(all[0])
	case c.JSON:
		return a.PrintJSON(all)
	}
	for _, v := range all {
		for _, f := range v.Errors {
			a.PrintLine("%s", f.In(v.File, string(f.Code)))
		}
		for _, f := range v.Warnings {
			a.PrintLine("%s", f.In(v.File, "warning"))
		}
		if v.Valid {
			a.PrintLine("%s: valid", v.File)
		}
	}
	return nil
}
