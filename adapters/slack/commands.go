package slack

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/doctor"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core"
)

// commandNote is the end of the log line about a command that was not stored. Slack sends a command only once.
const commandNote = "the person is asked to send the command again"

const commandAgain = "Your command could not be stored, so nothing was done. Send the command again."

// answerTime is the time limit for answering a command, below the three seconds that Slack allows.
const answerTime = 2500 * time.Millisecond

// receiveCommand handles /gatehouse new, status, stop, cancel or help, the first four in direct messages. A command
// that could not be stored is answered with a sentence that says so; if it is too late for an answer, the sentence is
// posted.
func (s *Slack) receiveCommand(
	ctx context.Context, body []byte, accept core.Accept,
) (reply any, result inbound.Result) {
	began := s.Now()
	var c slashCommand
	if err := inbound.Decode(body, &c); err != nil {
		return nil, inbound.Unreadable(s.Log, "command", body, err)
	}
	b := s.identity.get()
	b.team = cmp.Or(b.team, c.TeamID)
	if !c.isFor(b) {
		s.Log.Warn("a command of another workspace is refused", "team", safetext.Clip(c.TeamID))
		return nil, inbound.Foreign
	}
	if c.TriggerID == "" || c.ChannelID == "" || c.UserID == "" {
		return nil, inbound.Unreadable(s.Log, "command", body, errors.New("a field is missing"))
	}
	word, answer := strings.ToLower(strings.TrimSpace(c.Text)), strangerTalks
	if s.Config.Connect == connectAllow || s.ran(ctx, b, c) {
		answer = s.commandAnswer(ctx, c, word)
	} else if !s.refuseStranger("command", c.UserID, strangerTalks) {
		return nil, inbound.Stored
	}
	if answer == "" {
		ev := core.Event{
			Platform: Name, ID: "command/" + onceID(c.TriggerID), Conversation: conversationID(b.team, c.ChannelID, ""),
			Body: core.ParseControl(word), Actor: actor(c.UserID),
			Address: core.Address{Platform: Name, Channel: c.ChannelID}, Payload: stored(body),
		}
		result = inbound.Commit(ctx, s.Log, ev, accept, commandNote)
		switch {
		case result != inbound.NotStored:
			return nil, result
		case s.Now().Sub(began) >= answerTime:
			s.tell(ev.Address, c.UserID, commandAgain)
			return nil, result
		}
		answer = commandAgain
	}
	return map[string]string{"response_type": "ephemeral", "text": answer}, inbound.Stored
}

// commandAnswer is what a command is answered at once, "" if it is an event. In a channel, or with the assistant view,
// a command can't refer to a thread, because Slack has no commands in threads.
func (s *Slack) commandAnswer(ctx context.Context, c slashCommand, word string) string {
	threads := s.identity.hasScope(doctor.ScopeAssistant, false) // in direct messages too
	direct := strings.HasPrefix(c.ChannelID, "D")
	help, mention := commandHelp, ""
	if s.Config.FollowUp == followMention {
		help += " In a channel mention me before the word."
		if !direct {
			mention = " after a mention of me"
		}
	}
	if !threads { // else a command would do nothing else
		help += " In a direct message /gatehouse new, stop, status and cancel do the same."
	}
	switch {
	case word == "" || word == "help":
		return help
	case core.ParseControl(word) == nil:
		return "I do not know “" + mrkdwn.Escape(strings.ToValidUTF8(safetext.Clip(c.Text), "")) + "”. " + help
	case s.channelType(ctx, c.ChannelID, "") == slackevents.ChannelTypeMPIM: // one conversation
		return "Here write !" + word + " as a message instead."
	case threads || !direct:
		return "Here each thread is a conversation of its own: write !" + word + mention +
			" in the thread that you mean."
	}
	return ""
}

const commandHelp = "Send me a direct message, or mention me in a channel, where I answer in a thread, " +
	"or in a group direct message. Then write in the same place: !new starts a new conversation, " +
	"!stop stops what I am doing, !status shows what I am doing and what is waiting, " +
	"!cancel withdraws what waits for approval."
