package hrfcmd

import (
	"context"
	"errors"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core/hrf"
	"gatehouse/core/hrf/interp"
)

// Run is gatehouse hrf run.
type Run struct {
	cli.JSONFlag
	File       string      `arg:"" help:"The envelope, or - for standard input."`
	Profile    hrf.Profile `enum:"strict,compat" default:"strict" help:"${run_profile}"`
	Input      string      `placeholder:"FILE" help:"${run_input}"`
	Tools      string      `placeholder:"FILE" help:"${run_tools}"`
	LLMReply   *string     `name:"llm-reply" placeholder:"TEXT" help:"${run_llmreply}"`
	StrictVars bool        `help:"A variable that nothing has set is an error."`
}

// Help says more than one line.
func (Run) Help() string {
	return "This is a dry run: no real tool, model or database is used. It prints the steps that were executed and " +
		"the final text. " +
		"With --json, the trace also holds the messages that the model was shown. Exit code 1: the envelope is " +
		"invalid, or the run failed."
}

// ran is the JSON of a run.
type ran struct {
	FinalText string         `json:"final_text"`
	Vars      map[string]any `json:"vars"`
	ToolCalls []called       `json:"tool_calls"`
	LLMCalls  int            `json:"llm_calls"`
	Error     *hrf.Error     `json:"error"`
	Trace     []interp.Event `json:"trace"`
}

type called struct {
	Recipient string         `json:"recipient"`
	Args      map[string]any `json:"args"`
}

// Run runs the envelope and prints what happened.
func (c Run) Run(ctx context.Context, a *cli.App) error {
	text, err := readFile(a, c.File)
	if err != nil {
		return err
	}
	input, _, err := readObject(c.Input)
	if err != nil {
		return err
	}
	tools, err := readStubs(c.Tools)
	if err != nil {
		return err
	}
	out, err := c.run(ctx, text, input.Any().(map[string]any), tools)
	if err != nil {
		return err
	}
	if c.JSON {
		err = a.PrintJSON(out)
	} else {
		err = c.print(a, out)
	}
	if err == nil && out.Error != nil {
		return cli.Exit(cli.ExitBad, cli.ErrReported)
	}
	return err
}

// run runs the envelope if it is valid. What goes wrong in the run is in its Error; the error returned is that of the
// context.
func (c Run) run(ctx context.Context, text []byte, input map[string]any, tools stubs) (ran, error) {
	out := ran{Vars: map[string]any{}, ToolCalls: []called{}, Trace: []interp.Event{}}
	var options []hrf.Option
	if c.StrictVars {
		options = append(options, hrf.StrictVars)
	}
	envelope, report := hrf.Parse(text, c.Profile, options...)
	if fault := report.Err(); fault != nil {
		out.Error = &hrf.Error{
			Code: fault.Code, Message: "Invalid Harmony envelope: " + fault.Message, Details: fault.Details,
		}
		return out, nil
	}
	program := &interp.Program{Envelope: envelope, Catalog: tools, StrictVars: c.StrictVars}
	outcome, err := interp.Run(ctx, program, input, tools.call, c.reply)
	if err != nil && !errors.As(err, &out.Error) {
		return out, err
	}
	if out.Error == nil {
		out.FinalText = outcome.Text
	}
	if outcome.Vars != nil {
		out.Vars = outcome.Vars
	}
	out.ToolCalls = cli.List(outcome.ToolCalls, func(c interp.CallTool) called { return called{c.Recipient, c.Args} })
	out.LLMCalls = outcome.ModelCalls
	out.Trace = append(out.Trace, outcome.Trace...)
	return out, nil
}

// reply is the model.
func (c Run) reply(context.Context, []interp.Line) (string, error) {
	if c.LLMReply == nil {
		return "", errors.New("a dry run has no model; give its answer with --llm-reply")
	}
	return *c.LLMReply, nil
}
