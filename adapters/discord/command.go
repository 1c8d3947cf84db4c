package discord

import (
	"context"
	"encoding/json"
	"strings"

	"gatehouse/core"
)

// The slash commands.
const (
	commandAsk    = "ask"
	commandNew    = "new"
	commandStatus = "status"
	commandHelp   = "help"
)

// commanded takes a slash command. What is asked, and that a new conversation begins, everybody can read where it was asked; the rest is
// between the bot and the person.
func (d *Discord) commanded(ctx context.Context, i interaction, accept core.Accept) (response, verdict) {
	to := i.at()
	ev := core.Event{
		Platform: Name, ID: "command/" + i.ID, Conversation: conversationOf(i.guild(), to), Actor: actor(i.person().ID), Address: to, Payload: i.stripped(),
	}
	ev.Address.Message = ""
	switch i.Data.Name {
	case commandAsk:
		text := i.text()
		if strings.TrimSpace(text) == "" {
			return private("Write what you would like to know after /ask."), stored
		}
		ev.Body = core.MessageEvent{}
		return question(i, text), d.commit(ctx, ev, accept)
	case commandNew:
		ev.Body, ev.Address.Message = core.ResetEvent{}, i.awaiting()
		return answerLater(0), d.commit(ctx, ev, accept)
	case commandStatus:
		ev.Body, ev.Address.Message = core.ControlEvent{Word: commandStatus}, i.awaiting()
		return answerLater(flagEphemeral), d.commit(ctx, ev, accept)
	case commandHelp:
		return private(helpText), stored
	}
	return private("I do not know this command. " + helpText), stored
}

// helpText is what /help tells.
const helpText = "Send me a direct message, or mention me in a channel; I answer in a thread, and there you need not mention me again. " +
	"/ask asks me right here, /new starts afresh, /status shows what waits. As messages to me, !stop ends what I am doing and !cancel withdraws what waits for approval."

// text is what was asked.
func (i interaction) text() string {
	for _, o := range i.Data.Options {
		var text string
		if json.Unmarshal(o.Value, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// maxEcho is how much of a question is repeated, with what is escaped: less than a message takes.
const maxEcho = maxContent - 100

// question repeats a question for everybody to read, as a quotation that Discord shows as it was written.
func question(i interaction, text string) response {
	var b strings.Builder
	left := maxEcho
	for _, r := range strings.ToValidUTF8(text, "\ufffd") {
		piece := strings.ReplaceAll(literally(string(r)), "\n", "\n> ")
		if left -= units(piece); left < 0 {
			b.WriteString("…")
			break
		}
		b.WriteString(piece)
	}
	return message("> "+b.String(), 0)
}

// literally escapes what Discord would read as markup.
func literally(text string) string { return markup.Replace(text) }

var markup = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, ">", `\>`, "<", `\<`, "#", `\#`, "[", `\[`, "]", `\]`,
	"(", `\(`, ")", `\)`, "@", "@\u200b", ":", `\:`, "\r", "")
