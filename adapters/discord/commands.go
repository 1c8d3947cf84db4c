package discord

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"time"

	"gatehouse/core"
)

// slashCommand is a command as Discord lists it; what it adds of its own does not concern us.
type slashCommand struct {
	Name        string          `json:"name"`
	Type        int             `json:"type"`
	Description string          `json:"description"`
	Options     []commandOption `json:"options"`
	Contexts    []int           `json:"contexts"`          // where it is offered
	Installs    []int           `json:"integration_types"` // how the app has to be installed
}

type commandOption struct {
	Name        string `json:"name"`
	Type        int    `json:"type"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// Numbers of commands.
const (
	chatInput     = 1 // typed as /name
	optionText    = 3
	inServers     = 0
	inDirect      = 1
	installServer = 0
)

// slashCommands are the slash commands that the bot has, everywhere.
func slashCommands() []slashCommand {
	made := func(name, description string, options ...commandOption) slashCommand {
		return slashCommand{name, chatInput, description, append([]commandOption{}, options...), []int{inServers, inDirect}, []int{installServer}}
	}
	return []slashCommand{
		made(commandAsk, "Ask the bot something, right here", commandOption{"text", optionText, "What you would like to know, or have done", true}),
		made(commandNew, "Start a new conversation here: what was said so far is forgotten"),
		made(commandStatus, "Show what the bot is doing here, and what waits for approval"),
		made(commandHelp, "How to talk to the bot"),
	}
}

// firstCommands and commandRetry are how long to wait before the commands are registered again, where that failed.
const (
	firstCommands = time.Second
	commandRetry  = time.Minute
)

// keepCommands registers the commands once.
func (d *Discord) keepCommands(ctx context.Context) {
	trouble := core.NewErrorLog(d.Log, "registering the commands")
	for retry := firstCommands; ctx.Err() == nil; retry = min(2*retry, commandRetry) {
		known := d.whoami().App != ""
		changed, err := d.registerCommands(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.Report(err)
		switch core.CategoryOf(err) {
		case "":
			if changed {
				d.Log.Info("the commands were registered anew")
			}
			return
		case core.DeliveryFailed, core.Unsupported, core.ProviderAuthentication:
			if known {
				return // gatehouse doctor says what is wrong; the bot does without
			}
		}
		wait(ctx, max(retry, core.RetryAfterOf(err)))
	}
}

// registerCommands puts our commands in the place of those that are there, unless they are the same.
func (d *Discord) registerCommands(ctx context.Context) (changed bool, err error) {
	app, err := d.application(ctx)
	if err != nil {
		return false, err
	}
	path := "/applications/" + app + "/commands"
	var there []slashCommand
	if err := d.call(ctx, http.MethodGet, path, nil, &there); err != nil {
		return false, err
	}
	if sameCommands(there, slashCommands()) {
		return false, nil
	}
	return true, d.call(ctx, http.MethodPut, path, slashCommands(), nil)
}

// application is the id of the one that the bot belongs to: Discord is asked, else a session that began has told it.
func (d *Discord) application(ctx context.Context) (string, error) {
	var app struct {
		ID string `json:"id"`
	}
	err := d.call(ctx, http.MethodGet, "/applications/@me", nil, &app)
	if known := d.whoami().App; err != nil && known != "" {
		return known, nil
	}
	if err == nil && !isSnowflake(app.ID) {
		err = core.Errorf(core.DeliveryFailed, "Discord does not say which application the bot belongs to.")
	}
	return app.ID, err
}

// sameCommands reports whether two lists say the same, in whatever order.
func sameCommands(a, b []slashCommand) bool {
	return reflect.DeepEqual(byName(a), byName(b))
}

func byName(commands []slashCommand) map[string]slashCommand {
	named := map[string]slashCommand{}
	for _, c := range commands {
		c.Options = append([]commandOption{}, c.Options...)
		c.Contexts, c.Installs = slices.Sorted(slices.Values(c.Contexts)), slices.Sorted(slices.Values(c.Installs))
		named[c.Name] = c
	}
	return named
}
