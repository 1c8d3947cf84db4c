package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
	"gatehouse/core/retry"
)

// The slash commands.
const (
	commandAsk    = "ask"
	commandNew    = "new"
	commandStatus = "status"
	commandHelp   = "help"
)

// slashCommand is a command as it is registered, without the fields that Discord adds.
type slashCommand struct {
	Name        string                                 `json:"name"`
	Type        discordgo.ApplicationCommandType       `json:"type"`
	Description string                                 `json:"description"`
	Options     []commandOption                        `json:"options"`
	Contexts    []discordgo.InteractionContextType     `json:"contexts"`          // where it is offered
	Installs    []discordgo.ApplicationIntegrationType `json:"integration_types"` // how the app has to be installed
}

type commandOption struct {
	Name        string                                 `json:"name"`
	Type        discordgo.ApplicationCommandOptionType `json:"type"`
	Description string                                 `json:"description"`
	Required    bool                                   `json:"required"`
}

// slashCommands are the bot's slash commands, the same in every server.
func slashCommands() []slashCommand {
	command := func(name, description string, options ...commandOption) slashCommand {
		return slashCommand{
			Name: name, Type: discordgo.ChatApplicationCommand, Description: description,
			Options: append([]commandOption{}, options...),
			Contexts: []discordgo.InteractionContextType{
				discordgo.InteractionContextGuild, discordgo.InteractionContextBotDM,
			},
			Installs: []discordgo.ApplicationIntegrationType{discordgo.ApplicationIntegrationGuildInstall},
		}
	}
	return []slashCommand{
		command(commandAsk, "Ask the bot something, right here",
			commandOption{
				"text", discordgo.ApplicationCommandOptionString, "What you would like to know, or have done", true,
			}),
		command(commandNew, "Start a new conversation here: what was said so far is forgotten"),
		command(commandStatus, "Show what the bot is doing here, and what waits for approval"),
		command(commandHelp, "How to talk to the bot"),
	}
}

// commandEvent begins the id of a command's event.
const commandEvent = "command/"

// handleCommand answers a slash command, with its event. The answer is announced now and given later, so that it is one
// message, also where the bot may not post. Everyone in the channel sees what /ask and /new answer; all other answers
// only the person sees. help is the answer to /help.
func handleCommand(i interaction, help string) *response {
	e := core.Event{
		Platform: address.Platform, ID: commandEvent + i.ID, Conversation: i.conversation(), Actor: i.actor(),
		Address: i.address(address.CommandPrefix), Payload: i.payload(),
	}
	flags := discordgo.MessageFlags(0)
	switch i.Data.Name {
	case commandAsk:
		if strings.TrimSpace(i.text()) == "" {
			return ephemeral("Write what you would like to know after /ask.")
		}
		e.Body = core.MessageEvent{}
	case commandNew:
		e.Body = core.ResetEvent{}
	case commandStatus:
		e.Body, e.Address = core.ControlEvent{Word: commandStatus}, i.address(address.PrivatePrefix)
		flags = discordgo.MessageFlagsEphemeral
	case commandHelp:
		return ephemeral(help)
	default:
		return ephemeral("I do not know this command. " + help)
	}
	return &response{
		Type: discordgo.InteractionResponseDeferredChannelMessageWithSource, event: &e,
		Data: map[string]any{"flags": flags},
	}
}

// helpText is the answer to /help.
func (c Config) helpText() string {
	follow := "there you need not mention me again"
	if c.FollowUp == followMention {
		follow = "there, too, each message needs a mention of me, or is a reply to one of mine"
	}
	return "Send me a direct message, or mention me in a channel; I answer in a thread, and " + follow + ". " +
		"/ask asks me right here, /new starts a new conversation, /status shows what I am doing and what waits for " +
		"approval. As messages to me, !stop ends what I am doing and !cancel withdraws what waits for approval."
}

// Limits of the question that is repeated above an answer, after escaping.
const (
	maxQuote = 300
	minQuote = 40 // with less room than this it is left out
)

// keepCommands registers our commands once.
func (d *Discord) keepCommands(ctx context.Context) {
	log := retry.NewLog(d.Log, "registering the commands")
	for wait := outbound.FirstRetry; ctx.Err() == nil; wait = min(2*wait, outbound.MaxRetry) {
		known := d.whoami().App != ""
		changed, err := d.registerCommands(ctx)
		if ctx.Err() != nil {
			return
		}
		log.Report(err)
		switch core.CategoryOf(err) {
		case "":
			if changed {
				d.Log.Info("the commands were registered")
			}
			return
		case core.DeliveryFailed, core.Unsupported, core.Unauthorized:
			if known {
				return // gatehouse doctor says what is wrong; the bot works without
			}
		}
		_ = d.askIdentity(ctx) // the bot works without commands, so their failure does not say whether Discord answers
		outbound.Sleep(ctx, max(wait, core.RetryAfterOf(err)))
	}
}

// registered is a command as Discord lists it.
type registered struct {
	ID string `json:"id"`
	slashCommand
}

// registerCommands registers those of our commands that are missing or different. Other commands of the application are
// kept: those of an earlier use, and an entry point, which Discord does not let go.
func (d *Discord) registerCommands(ctx context.Context) (changed bool, err error) {
	app := d.whoami().App // asking who the bot is, or a new gateway session, may have named it
	if app == "" {
		asked, err := d.rest.Application(ctx)
		if err != nil {
			return false, err
		}
		app = asked.ID
	}
	if !snowflake.Valid(app) {
		return false, core.Errorf(core.DeliveryFailed, "Discord does not say which application the bot belongs to.")
	}
	var listed json.RawMessage
	if err := d.rest.Get(ctx, discordgo.EndpointApplicationGlobalCommands(app), &listed); err != nil {
		return false, err
	}
	there := chatCommands(listed)
	for _, c := range slashCommands() {
		switch old := there[c.Name]; {
		case !snowflake.Valid(old.ID):
			err = d.rest.Call(ctx, http.MethodPost, discordgo.EndpointApplicationGlobalCommands(app), c, nil)
		case !old.is(c):
			endpoint := discordgo.EndpointApplicationGlobalCommand(app, old.ID)
			err = d.rest.Call(ctx, http.MethodPatch, endpoint, c.changes(), nil)
		default:
			continue
		}
		if err != nil {
			return changed, err
		}
		changed = true
	}
	return changed, nil
}

// changes returns the command as the body of a change, which can't have a type.
func (c slashCommand) changes() any {
	return struct {
		slashCommand
		Type int `json:"type,omitempty"`
	}{slashCommand: c}
}

// builtCommands are the commands of this build.
type builtCommands struct{}

// Listed reports whether the commands that Discord lists include ours.
func (builtCommands) Listed(all json.RawMessage) bool {
	there := chatCommands(all)
	return !slices.ContainsFunc(slashCommands(), func(c slashCommand) bool { return !there[c.Name].is(c) })
}

// chatCommands returns the slash commands among those that Discord lists, by name. The application may have others than
// gatehouse's, of any shape.
func chatCommands(listed json.RawMessage) map[string]registered {
	var all []json.RawMessage
	_ = json.Unmarshal(listed, &all) // what can't be read is not ours
	named := map[string]registered{}
	for _, body := range all {
		var c registered
		if json.Unmarshal(body, &c) == nil && c.Type == discordgo.ChatApplicationCommand {
			named[c.Name] = c
		}
	}
	return named
}

// is reports whether a command is the same as another.
func (c slashCommand) is(other slashCommand) bool {
	return reflect.DeepEqual(c.sorted(), other.sorted())
}

func (c slashCommand) sorted() slashCommand {
	c.Options = append([]commandOption{}, c.Options...)
	c.Contexts, c.Installs = slices.Sorted(slices.Values(c.Contexts)), slices.Sorted(slices.Values(c.Installs))
	return c
}
