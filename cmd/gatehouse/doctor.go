package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
	"gatehouse/approvals"
	"gatehouse/core"
)

type doctorCmd struct {
	asJSON
	Quick bool `help:"Leave out what a platform may count: Slack is not asked for a socket."`
}

// finding is what the doctor found out about one thing.
type finding struct {
	Name    string `json:"name"`
	State   string `json:"state"` // ok, warn, fail
	Message string `json:"message"`
	Mend    string `json:"mend"` // what to do about it
}

// The states of a finding.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"
)

// Run checks one thing after the other. It exits with 2 where the configuration can't be used, and with 1 where anything else failed.
func (c doctorCmd) Run(ctx context.Context, a *app) error {
	cfg, found := checkConfig()
	usable := !failed(found)
	if usable {
		more, store := checkDatabase(ctx, cfg)
		found = append(found, more...)
		if store != nil {
			found = append(found, checkStore(ctx, cfg, store)...)
		}
		found = append(found, c.checkPlatforms(ctx, cfg, store)...)
		if store != nil {
			_ = store.Close() // nothing of ours is in it
		}
	}
	if err := c.print(a, found); err != nil {
		return err
	}
	switch {
	case !usable:
		return &exitError{codeUsage, errSaid}
	case failed(found):
		return &exitError{codeBad, errSaid}
	}
	return nil
}

func failed(found []finding) bool {
	return slices.ContainsFunc(found, func(f finding) bool { return f.State == checkFail })
}

// checkConfig reads the configuration: a check for each fault, or one that there is none.
func checkConfig() (Config, []finding) {
	cfg, _, faults := readConfig()
	var found []finding
	for _, fault := range faults {
		mend := "Set it in the environment; config.example.env says what each setting means."
		switch key, _, _ := strings.Cut(fault, ":"); key {
		case "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET":
			mend = "The tokens stand at https://api.slack.com/apps, on the pages of the app; the section Slack of README says which is where."
		case "DISCORD_BOT_TOKEN", "DISCORD_PUBLIC_KEY":
			mend = "The token and the key stand at https://discord.com/developers/applications, on the pages of the application; the section Discord of README says which is where."
		}
		found = append(found, finding{"configuration", checkFail, fault, mend})
	}
	for _, warning := range unknownSettings() {
		found = append(found, finding{"configuration", checkWarn, warning, "Correct its name, or take it away."})
	}
	if len(found) == 0 {
		found = append(found, finding{"configuration", checkOK, "Every setting can be used.", ""})
	}
	return cfg, found
}

// checkPlatforms asks each platform that is configured. store is nil where the database can't be used.
func (c doctorCmd) checkPlatforms(ctx context.Context, cfg Config, store core.Store) []finding {
	policy, err := approvals.ParsePolicy(cfg.Approvers, 0)
	if err != nil {
		return []finding{{"approvers", checkFail, explain(err), "See GATEHOUSE_APPROVERS."}} // it was checked with the configuration
	}
	var found []finding
	if cfg.Slack.Enabled() {
		found = append(found, c.checkSlack(ctx, cfg, policy.Approvers, store)...)
	}
	if cfg.Discord.Enabled() {
		found = append(found, checkDiscord(ctx, cfg, policy.Approvers, store)...)
	}
	if found == nil {
		return unconfigured
	}
	return found
}

// unconfigured is what is said where there is no platform.
var unconfigured = []finding{
	{"slack", checkOK, "Slack is not configured; the agent can be talked to by gatehouse chat.", "To add Slack: gatehouse manifest slack, and the section Slack of README."},
	{"discord", checkOK, "Discord is not configured; the agent can be talked to by gatehouse chat.", "To add Discord: gatehouse manifest discord, and the section Discord of README."},
}

func (c doctorCmd) checkSlack(ctx context.Context, cfg Config, approvers []string, store core.Store) []finding {
	checkup := slack.Checkup{Config: cfg.Slack, Approvers: approvers, Listen: cfg.Listen, Quick: c.Quick, Now: now}
	if store != nil {
		checkup.LastEvent = func(ctx context.Context) (time.Time, error) { return lastHeard(ctx, store, slack.Name) }
	}
	return list(checkup.Run(ctx), func(f slack.Check) finding { return finding{f.Name, string(f.State), f.What, f.Mend} })
}

func checkDiscord(ctx context.Context, cfg Config, approvers []string, store core.Store) []finding {
	checkup := discord.Checkup{Config: cfg.Discord, Approvers: approvers, Listen: cfg.Listen, Now: now}
	if store != nil {
		checkup.Recent = func(ctx context.Context) ([]core.EventRecord, error) {
			return store.Events(ctx, core.EventFilter{Platform: discord.Name, Limit: recentEvents})
		}
	}
	return list(checkup.Run(ctx), func(f discord.Check) finding { return finding{f.Name, string(f.State), f.What, f.Mend} })
}

// lookBack is how many events are looked at for the last that a platform sent.
const lookBack = 100

// lastHeard tells when the last event that a platform sent was stored. What gatehouse made itself proves nothing: the signal of a
// decision, which may come from the command line, and what is tried again.
func lastHeard(ctx context.Context, store core.Store, platform string) (time.Time, error) {
	events, err := store.Events(ctx, core.EventFilter{Platform: platform, Limit: lookBack})
	for _, e := range events {
		if e.Kind() != core.KindSignal && e.RetryOf == 0 {
			return e.AcceptedAt, err
		}
	}
	return time.Time{}, err
}

// print shows the checks, and how many went wrong.
func (c doctorCmd) print(a *app, found []finding) error {
	if c.JSON {
		return a.json(found)
	}
	width, counts := 0, map[string]int{}
	for _, f := range found {
		width = max(width, len([]rune(f.Name)))
		counts[f.State]++
	}
	for _, f := range found {
		a.say("%-5s %-*s  %s", f.State, width, f.Name, f.Message)
		if f.Mend != "" {
			a.say("%s→ %s", strings.Repeat(" ", width+8), f.Mend)
		}
	}
	fmt.Fprintln(a.std.Out)
	a.say("%d ok, %d to look at, %d failed.", counts[checkOK], counts[checkWarn], counts[checkFail])
	return nil
}

// silent is the log of what the doctor opens: what is wrong stands in the checks.
var silent = slog.New(slog.DiscardHandler)
