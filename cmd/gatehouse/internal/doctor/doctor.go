// Package doctor is gatehouse doctor: it checks configuration, database, MCP servers and platforms by using them, and
// says how to fix what is wrong.
package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"gatehouse/approvals/proof"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/connections"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// Command is gatehouse doctor.
type Command struct {
	cli.JSONFlag
	Quick bool `help:"Skip checks that cost something: no model answers, and no socket is requested from a platform."`
}

// Program is the program that the doctor checks.
type Program interface {
	// Agent compiles the configured agent; it determines which paused turns can be resumed.
	Agent(cfg settings.Config, store *storage.Store) (*graph.Graph, error)
	// Tools are those of the configuration, without MCP servers.
	Tools() *tool.Registry
	// Turns asks the gatehouse serve of this machine for its turns; ok is false if none answers.
	Turns(ctx context.Context, cfg settings.Config) (turns Turns, ok bool, err error)
}

// finding is the result of one check.
type finding core.Check

// The states of a finding.
const (
	stateOK   = core.CheckOK
	stateWarn = core.CheckWarn
	stateFail = core.CheckFail
)

// Run runs the checks in order. It exits with 2 where the configuration is invalid, and with 1 where another check
// failed.
func (c Command) Run(ctx context.Context, a *cli.App, p Program) error {
	cfg, found := checkConfig(a.Settings)
	usable := !failed(found)
	if few := connections.FewFiles(); few != "" {
		found = append(found, finding{"open files", stateWarn, few, "Raise it where gatehouse serve runs, too."})
	}
	if usable {
		more, store := checkDatabase(ctx, a.OpenStore, cfg)
		found = append(found, more...)
		if store != nil {
			found = append(found, checkStore(ctx, p, cfg, store)...)
			found = append(found, checkTurns(ctx, p, cfg)...)
			found = append(found, checkScript(p, cfg, store)...)
		}
		found = append(found, checkTools(cfg)...)
		found = append(found, checkPrompt(cfg)...)
		found = append(found, c.checkModels(ctx, cfg)...)
		servers := lookAtServers(ctx, cfg, store)
		found = append(found, checkServers(cfg, servers)...)
		found = append(found, checkPolicy(p, cfg, servers)...)
		found = append(found, checkPeople(ctx, cfg, store)...)
		found = append(found, c.checkPlatforms(ctx, cfg, store)...)
		if store != nil {
			_ = store.Close() // nothing of ours is pending in it
		}
	}
	for i := range found { // an error may show the address of a proxy, or of another server
		found[i].What, found[i].Mend = settings.MaskURLs(found[i].What), settings.MaskURLs(found[i].Mend)
	}
	if err := c.print(a, found); err != nil {
		return err
	}
	switch {
	case !usable:
		return cli.Exit(cli.ExitUsage, cli.ErrReported)
	case failed(found):
		return cli.Exit(cli.ExitBad, cli.ErrReported)
	}
	return nil
}

func failed(found []finding) bool {
	return slices.ContainsFunc(found, func(f finding) bool { return f.State == stateFail })
}

// checkConfig reads the configuration: a finding for each fault, or one that there is none.
func checkConfig(source settings.Source) (settings.Config, []finding) {
	cfg, all, faults := source.Read()
	var found []finding
	for _, fault := range faults {
		fix := "Set it in the environment. gatehouse config prints each setting."
		page := settings.PageOf(fault)
		if page != "" {
			fix = "Correct it. " + page + " explains it."
		}
		for _, s := range all {
			switch about := strings.HasPrefix(fault, s.Key+":"); {
			case about && s.From != "":
				fix = "Copy it from " + s.From + "."
			case about && page == "" && s.Value != "" && strings.Contains(fault, s.Value+":"): // in a file
				fix = "Correct the file " + s.Value + ", which " + s.Key + " names."
			}
		}
		found = append(found, finding{"configuration", stateFail, fault, fix})
	}
	for _, warning := range source.Unknown() {
		found = append(found, finding{"configuration", stateWarn, warning, "Correct its name, or unset it."})
	}
	for _, warning := range cfg.Unused() {
		found = append(found, finding{"configuration", stateWarn, warning, "Unset it, or set GATEHOUSE_MODEL and " +
			"GATEHOUSE_AGENT=llm."})
	}
	for _, warning := range cfg.WithoutToken() {
		found = append(found, finding{"configuration", stateWarn, warning, "Add the name to GATEHOUSE_TOKENS, or " +
			"remove the id from GATEHOUSE_APPROVERS and the approval policy."})
	}
	note := ""
	if len(cfg.Keys) == 0 {
		note = proof.KeyInDatabase
	}
	switch {
	case len(found) == 0:
		found = append(found, finding{"configuration", stateOK, "All settings are valid.", note})
	case note != "" && !failed(found):
		found = append(found, finding{"configuration", stateOK, note, ""})
	}
	return cfg, found
}

// print prints the findings, and how many there are of each state.
func (c Command) print(a *cli.App, found []finding) error {
	if c.JSON {
		return a.PrintJSON(found)
	}
	width, counts := 0, map[core.CheckState]int{}
	for _, f := range found {
		width = max(width, len([]rune(f.Name)))
		counts[f.State]++
	}
	margin := strings.Repeat(" ", width+8)
	for _, f := range found {
		a.PrintLine("%-5s %-*s  %s", f.State, width, f.Name, strings.ReplaceAll(f.What, "\n", "\n"+margin))
		if f.Mend != "" {
			a.PrintLine("%s→ %s", margin, f.Mend)
		}
	}
	fmt.Fprintln(a.Out)
	a.PrintLine("%d ok, %d warnings, %d failed.", counts[stateOK], counts[stateWarn], counts[stateFail])
	return nil
}

// silent is the log of what the doctor opens: problems are reported as findings.
var silent = slog.New(slog.DiscardHandler)
