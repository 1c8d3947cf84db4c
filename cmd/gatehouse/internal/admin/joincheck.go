package admin

import (
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/typestate"
)

// JoinCheck is gatehouse join-check.
type JoinCheck struct {
	cli.JSONFlag
	Input string `required:"" placeholder:"FILE" help:"The evidence of one turn, as JSON."`
}

// Run prints the verdict on the evidence. A rejection is a verdict too, with exit code 0; input that can't be checked
// exits with 2.
func (c JoinCheck) Run(a *cli.App) error {
	data, err := core.ReadText(c.Input)
	if err != nil {
		return invalidInput(a, "harness_join_check_invalid: failed to read input %s: %v", c.Input, err)
	}
	in, err := typestate.Decode(data)
	if err != nil {
		return invalidInput(a, "harness_join_check_invalid: failed to parse input json %s: %s", c.Input,
			core.MessageOf(err))
	}
	report, err := typestate.JoinCheck(in)
	if err != nil {
		return invalidInput(a, "harness_join_check_invalid: %s", core.MessageOf(err))
	}
	if c.JSON {
		return a.PrintRaw(string(report.JSON()) + "\n")
	}
	a.PrintLine("gatehouse join-check")
	a.PrintLine("  Input: %s", c.Input)
	a.PrintLine("  Result: %s", report.Result)
	printClasses(a, report.FailureClasses)
	return nil
}

// MutationCheck is gatehouse mutation-check.
type MutationCheck struct {
	cli.JSONFlag
	Input string `required:"" placeholder:"FILE" help:"${mutation_input}"`

	Normalizer []string `sep:"none" placeholder:"ID" help:"${mutation_normalizer}"`
}

// Run prints whether the mutation may run. If the evidence is invalid the verdict is not ready, and the reason is
// printed to standard error.
func (c MutationCheck) Run(a *cli.App) error {
	data, err := core.ReadText(c.Input)
	if err != nil {
		return invalidInput(a, "mutation_check_invalid: failed to read input %s: %v", c.Input, err)
	}
	m, err := typestate.DecodeMutation(data)
	if err != nil {
		return invalidInput(a, "mutation_check_invalid: failed to parse input json %s: %s", c.Input,
			core.MessageOf(err))
	}
	v, fault := m.Check(c.Normalizer...)
	if fault != nil {
		a.PrintError("mutation_check: invalid evidence: %s", core.MessageOf(fault))
	}
	if c.JSON {
		return a.PrintRaw(string(v.JSON()) + "\n")
	}
	a.PrintLine("gatehouse mutation-check")
	a.PrintLine("  Input: %s", c.Input)
	a.PrintLine("  Mutation Ready: %t", v.MutationReady)
	printClasses(a, v.FailureClasses)
	return nil
}

// invalidInput prints why there is no verdict, and exits with 2.
func invalidInput(a *cli.App, format string, args ...any) error {
	a.PrintError(format, args...)
	return cli.Exit(cli.ExitUsage, cli.ErrReported)
}

func printClasses(a *cli.App, all []typestate.Class) {
	a.PrintLine("  Failure Classes: %d", len(all))
	for _, c := range all {
		a.PrintLine("  - %s", c)
	}
}
