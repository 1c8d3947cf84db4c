package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"gatehouse/adapters/console"
	"gatehouse/core"
	"gatehouse/core/typestate"
)

type joinCheckCmd struct {
	asJSON
	Input string `required:"" placeholder:"FILE" help:"The evidence of one turn, as JSON."`
}

// Run prints the verdict on the evidence; a rejection is a verdict too, and ends with 0. What can't be judged ends with 2.
func (c joinCheckCmd) Run(a *app) error {
	data, err := os.ReadFile(c.Input)
	if err != nil {
		return a.invalid("harness_join_check_invalid: failed to read input %s: %v", c.Input, err)
	}
	in, err := typestate.Decode(data)
	if err != nil {
		return a.invalid("harness_join_check_invalid: failed to parse input json %s: %s", c.Input, core.MessageOf(err))
	}
	report, err := typestate.JoinCheck(in)
	if err != nil {
		return a.invalid("harness_join_check_invalid: %s", core.MessageOf(err))
	}
	if c.JSON {
		return a.verdict(report.JSON())
	}
	a.say("gatehouse join-check")
	a.say("  Input: %s", c.Input)
	a.say("  Result: %s", report.Result)
	a.classes(report.FailureClasses)
	return nil
}

type mutationCheckCmd struct {
	asJSON
	Input string `required:"" placeholder:"FILE" help:"The mutation and its evidence, as JSON: mutation, joinCheckInput, joinGate."`
}

// Run prints whether the mutation may run. Evidence that can't be read is a verdict, not ready, with the reason on standard error.
func (c mutationCheckCmd) Run(a *app) error {
	data, err := os.ReadFile(c.Input)
	if err != nil {
		return a.invalid("mutation_check_invalid: failed to read input %s: %v", c.Input, err)
	}
	m, err := typestate.DecodeMutation(data)
	if err != nil {
		return a.invalid("mutation_check_invalid: failed to parse input json %s: %s", c.Input, core.MessageOf(err))
	}
	v, fault := m.Check()
	if fault != nil {
		a.complain("mutation_check: the evidence can't be used: %s", core.MessageOf(fault))
	}
	if c.JSON {
		return a.verdict(v.JSON())
	}
	a.say("gatehouse mutation-check")
	a.say("  Input: %s", c.Input)
	a.say("  Mutation Ready: %t", v.MutationReady)
	a.classes(v.FailureClasses)
	return nil
}

// errSaid ends a command that has said on standard error what is wrong.
var errSaid = errors.New("already said")

// invalid says what keeps a check from a verdict, in the check's own words, and ends with 2.
func (a *app) invalid(format string, args ...any) error {
	a.complain(format, args...)
	return &exitError{codeUsage, errSaid}
}

func (a *app) complain(format string, args ...any) {
	fmt.Fprintln(a.std.Err, console.Clean(fmt.Sprintf(format, args...)))
}

// verdict prints JSON that is laid out already.
func (a *app) verdict(text []byte) error {
	_, err := io.WriteString(a.std.Out, harmless(string(text))+"\n")
	return err
}

func (a *app) classes(all []typestate.Class) {
	a.say("  Failure Classes: %d", len(all))
	for _, c := range all {
		a.say("  - %s", c)
	}
}
