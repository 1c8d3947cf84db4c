// Package doctor is gatehouse doctor: it checks configuration, database, MCP servers and platforms by using them, and says how to fix what is wrong.
package doctor

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"gatehouse/approvals/proof"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core/graph"
	"gatehouse/core/llm"
	"gatehouse/storage"
)

// Command is gatehouse doctor.
type Command struct {
	cli.JSONFlag
	Quick bool `help:"Skip checks that cost something: no model answers, and no socket is requested from Slack."`

	// Agent compiles the configured agent; it determines which paused turns can be resumed.
	Agent func(settings.Config, *storage.Store) (*graph.Graph, error) `kong:"-"`
	// Turns asks the gatehouse serve of this machine for its turns; ok is false if none answers.
	Turns func(context.Context, settings.Config) (turns Turns, ok bool) `kong:"-"`
	// Vendor makes the provider of a configured model.
	Vendor func(settings.Config, settings.ChosenModel) (llm.Provider, error) `kong:"-"`
}

// finding is the result of one check.
type finding struct {
	Name    string `json:"name"`
	State   string `json:"state"`   // ok, warn, fail
	Message string `json:"message"` // its further lines are a table
	Fix     string `json:"mend"`    // how to fix it
}

// The states of a finding.
const (
	stateOK   = "ok"
	stateWarn = "warn"
	stateFail = "fail"
)

// Run runs the checks in order. It exits with 2 where the configuration is invalid, and with 1 where another check failed.
func (c Command) Run(ctx context.Context, a *cli.App) error {
	cfg, found := checkConfig()
	usable := !failed(found)
	if usable {
		more, store := checkDatabase(ctx, a.OpenStore, cfg)
		found = append(found, more...)
		if store != nil {
			found = append(found, c.checkStore(ctx, cfg, store)...)
			found = append(found, c.checkTurns(ctx, cfg)...)
			found = append(found, c.checkScript(cfg, store)...)
		}
		found = append(found, checkTools(cfg)...)
		found = append(found, checkPrompt(cfg)...)
		found = append(found, c.checkModels(ctx, cfg)...)
		found = append(found, checkServers(ctx, cfg, store)...)
		found = append(found, c.checkPlatforms(ctx, cfg, store)...)
		if store != nil {
			_ = store.Close() // nothing of ours is pending in it
		}
	}
	for i := range found { // an error may show the address of a proxy, or of another server
		found[i].Message, found[i].Fix = settings.MaskURLs(found[i].Message), settings.MaskURLs(found[i].Fix)
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
func checkConfig() (settings.Config, []finding) {
	cfg, _, faults := settings.Read()
	var found []finding
	for _, fault := range faults {
		fix := "Set it in the environment. config.example.env describes each setting."
		switch key, _, _ := strings.Cut(fault, ":"); key {
		case "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET":
			fix = "Copy it from the app's pages at https://api.slack.com/apps. adapters/slack/README.md says where to find it."
		case "DISCORD_BOT_TOKEN", "DISCORD_PUBLIC_KEY":
			fix = "Copy it from the application's pages at https://discord.com/developers/applications. adapters/discord/README.md says where to find it."
		}
		found = append(found, finding{"configuration", stateFail, fault, fix})
	}
	for _, warning := range settings.Unknown() {
		found = append(found, finding{"configuration", stateWarn, warning, "Correct its name, or unset it."})
	}
	for _, warning := range cfg.Unused() {
		found = append(found, finding{"configuration", stateWarn, warning, "Unset it, or set GATEHOUSE_MODEL and GATEHOUSE_AGENT=llm."})
	}
	for _, warning := range cfg.WithoutToken() {
		found = append(found, finding{"configuration", stateWarn, warning, "Add the name to GATEHOUSE_TOKENS, or remove the id from GATEHOUSE_APPROVERS and the approval policy."})
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
	width, counts := 0, map[string]int{}
	for _, f := range found {
		width = max(width, len([]rune(f.Name)))
		counts[f.State]++
	}
	margin := strings.Repeat(" ", width+8)
	for _, f := range found {
		a.PrintLine("%-5s %-*s  %s", f.State, width, f.Name, strings.ReplaceAll(f.Message, "\n", "\n"+margin))
		if f.Fix != "" {
			a.PrintLine("%s→ %s", margin, f.Fix)
		}
	}
	fmt.Fprintln(a.Out)
	a.PrintLine("%d ok, %d warnings, %d failed.", counts[stateOK], counts[stateWarn], counts[stateFail])
	return nil
}

// silent is the log of what the doctor opens: problems are reported as findings.
var silent = slog.New(slog.DiscardHandler)
