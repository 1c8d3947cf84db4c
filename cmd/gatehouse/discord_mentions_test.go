package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/strictjson"
)

// body is a message as Discord received it.
type body struct {
	route  string // the route that it came by
	fields map[string]any
}

// routesWithoutText are the routes whose text nobody sees as a message.
var routesWithoutText = []string{
	discordtest.StartThread, discordtest.ModifyChannel, discordtest.OpenDM, discordtest.TriggerTyping,
	discordtest.CreateCommand, discordtest.EditCommand,
}

// bodies returns all messages that Discord has received, by any route. A call to an unknown route that may carry a
// message fails the test.
func (d *discordGateway) bodies() (all []body) {
	d.t.Helper()
	for _, c := range d.discord.Calls() {
		switch c.Route {
		case discordtest.CreateMessage, discordtest.EditMessage, discordtest.FollowUp, discordtest.EditFollowUp:
			d.noDuplicateKeys(c.Body, len(c.Files) > 0)
			all = append(all, body{c.Route, c.Fields})
		case discordtest.AnswerInteraction:
			d.noDuplicateKeys(c.Body, len(c.Files) > 0)
			all = append(all, d.answerTo(c.Route, c.Fields)...)
		case discordtest.StartThread:
			if _, there := c.Fields["message"]; there {
				d.t.Errorf("a thread begins with a message that is not checked: %s", c.Body)
			}
		default:
			if method, _, _ := strings.Cut(c.Route, " "); slices.Contains([]string{"POST", "PATCH", "PUT"}, method) &&
				!slices.Contains(routesWithoutText, c.Route) {
				d.t.Errorf("%s may carry a message that is not checked: %s", c.Route, c.Body)
			}
		}
	}
	for _, i := range d.discord.Interactions() {
		if a := i.State().Attempt; a != nil && a.Status != http.StatusAccepted { // 202: the answer came in a call
			d.noDuplicateKeys(a.Answer, false)
			var fields map[string]any
			if err := json.Unmarshal(a.Answer, &fields); err != nil {
				d.t.Errorf("an interaction is answered by %q: %v", a.Answer, err)
			}
			all = append(all, d.answerTo("answer over HTTP", fields)...)
		}
	}
	return all
}

// answerTo is the message that answers an interaction, if its type is one that carries a message.
func (d *discordGateway) answerTo(how string, fields map[string]any) []body {
	d.t.Helper()
	data, _ := fields["data"].(map[string]any)
	kind, _ := fields["type"].(float64)
	switch discordtest.CallbackKind(kind) {
	case discordtest.Reply, discordtest.Update:
		return []body{{how, data}}
	case discordtest.DeferredUpdate, discordtest.ShowModal, discordtest.Pong:
		return nil
	case discordtest.DeferredReply:
		if data["content"] == nil {
			return nil
		}
	}
	d.t.Errorf("an answer of the type %v is not checked: %v", kind, fields)
	return nil
}

// noDuplicateKeys fails if a JSON object has a key twice: Discord might use the value that the test does not check.
func (d *discordGateway) noDuplicateKeys(raw []byte, form bool) {
	d.t.Helper()
	if form {
		return // the fake has taken the JSON from the form
	}
	if _, err := strictjson.Parse(raw); err != nil {
		d.t.Errorf("%v in %s", err, raw)
	}
}

// mentionsNobody fails unless every message that Discord received mentions nobody and suppresses previews. Cards alone
// mention somebody: the approvers who are configured. It returns the number of messages by route.
func (d *discordGateway) mentionsNobody() (routes map[string]int) {
	d.t.Helper()
	routes = map[string]int{}
	for _, b := range d.bodies() {
		routes[b.route]++
		allowed, there := b.fields["allowed_mentions"].(map[string]any)
		parse, isList := allowed["parse"].([]any)
		if !there || !isList || len(parse) > 0 {
			d.t.Errorf("%s: allowed_mentions does not forbid all mentions: %v", b.route, b.fields)
		}
		for field, value := range allowed {
			ids, _ := value.([]any)
			if b.isCard() && len(ids) == 1 &&
				(field == "users" && ids[0] == deciderID || field == "roles" && ids[0] == roleID) {
				continue
			}
			if field != "parse" && value != false && (value == nil || ids == nil || len(ids) > 0) {
				d.t.Errorf("%s: allowed_mentions allows %s: %v", b.route, field, value)
			}
		}
		if flags, _ := b.fields["flags"].(float64); int(flags)&discordtest.FlagSuppressEmbeds == 0 {
			d.t.Errorf("%s: previews are not suppressed: %v", b.route, b.fields)
		}
		if embeds, _ := b.fields["embeds"].([]any); len(embeds) > 0 {
			d.t.Errorf("%s: it shows embeds: %v", b.route, b.fields)
		}
	}
	if len(routes) == 0 {
		d.t.Error("no message reached Discord")
	}
	return routes
}

// isCard reports whether the message is made of components alone, as only cards are.
func (b body) isCard() bool {
	flags, _ := b.fields["flags"].(float64)
	return int(flags)&discordtest.FlagComponentsV2 != 0
}

// mentionText tries to mention everybody and to show links.
const mentionText = "@everyone @here <@1003> <@!1003> <@&5001> <#3001> https://evil.example " +
	"[here](https://evil.example)"

// mentioningModel is a model whose answer to "cry" is a long text with mentions, and which fails on "fail" while
// failing is set.
type mentioningModel struct {
	agent.Demo
	failing atomic.Bool
}

func (c *mentioningModel) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 1)
	if err != nil {
		return agent.Answer{}, err
	}
	switch last := tail[0].Content.Own(); {
	case last == "cry":
		return agent.Answer{Message: core.Message{
			Role: core.Assistant, Content: core.Text(strings.Repeat(mentionText+" and so on.\n", 60) + "The end."),
		}}, nil
	case last == "fail" && c.failing.Load():
		return agent.Answer{}, core.Errorf(core.ProviderUnavailable, "The model does not answer: %s", mentionText)
	}
	return c.Demo.Next(ctx, h, nil)
}

// readsEphemeral waits for a text that only one person sees: below what they pressed or, from a machine too busy to
// answer within Discord's time, as a direct message.
func (d *discordGateway) readsEphemeral(channel, user, text string) {
	d.t.Helper()
	err := d.discord.WaitFor(d.ctx(), func(s *discordtest.Server) bool {
		told := slices.Concat(s.Ephemerals(channel, user), s.FromBot(s.DMWith(user)))
		return slices.ContainsFunc(told, func(m discordtest.Message) bool { return strings.Contains(m.Shown(), text) })
	})
	if err != nil {
		d.t.Fatalf("%s received no ephemeral message %q: %v\n%s", user, text, err, d.discord.Dump())
	}
}

// pressesUntilShown has eve press a button until she is shown a text: a machine too busy to look it up within Discord's
// time asks her to press again.
func (d *discordGateway) pressesUntilShown(channel, card, button, text string) {
	d.t.Helper()
	for pressed := 1; ; pressed++ {
		d.eve.Clicks(channel, card, button)
		var shown, again int
		waitUntil(d.t, func() bool {
			shown, again = 0, 0
			told := d.discord.Ephemerals(channel, otherID)
			for _, m := range slices.Concat(told, d.discord.FromBot(d.discord.DMWith(otherID))) {
				switch {
				case strings.Contains(m.Shown(), text):
					shown++
				case strings.Contains(m.Shown(), "Press again"):
					again++
				}
			}
			return shown > 0 || again == pressed
		}, text)
		if shown > 0 {
			return
		}
	}
}

// shows waits until a message has a text and no buttons.
func (d *discordGateway) shows(channel, message, text string) {
	d.t.Helper()
	waitUntil(d.t, func() bool {
		m, _ := d.discord.Message(channel, message)
		return strings.Contains(m.Shown(), text) && len(m.Buttons()) == 0
	}, text+" on "+message)
}

func TestLaw8_NothingThatReachesDiscordCallsAnybody(t *testing.T) {
	onEachTransport(t, func(t *testing.T, over string, env map[string]string) {
		model := &mentioningModel{}
		model.failing.Store(true)
		env["GATEHOUSE_APPROVERS"] = "discord:role:" + roleID + ",discord:" + deciderID
		d := serveDiscordWith(t, discordtest.Options{}, env, func(d *discordGateway) {
			d.settings.model = func() agent.Model { return model }
		})
		bot := d.discord.MentionOfBot() + " "
		fails := d.ann.Posts(channelID, bot+"fail") // it is retried several times before the user is told

		// A mention, a thread, direct messages, commands.
		thread := d.ann.Posts(channelID, bot+"calc 1+1").ID
		d.reads(thread, "1+1 = 2")
		d.ann.Posts(thread, mentionText,
			discordtest.WithFiles(
				discordtest.Attachment{Name: "@everyone.txt", ContentType: "text/plain", Data: []byte(mentionText)}))
		d.reads(thread, "did not understand")
		d.ann.Says("hello")
		d.reads(d.discord.DMWith(askerID), "Hello!")
		d.registered()
		d.ann.Runs(channelID, "/ask calc 1+2")
		d.reads(channelID, "1+2 = 3")
		d.ann.Runs(channelID, "/ask "+mentionText)
		d.reads(channelID, "did not understand")
		d.ann.Runs(channelID, "/status")
		d.readsEphemeral(channelID, askerID, "Nothing is waiting")
		d.ann.Runs(channelID, "/help")
		d.readsEphemeral(channelID, askerID, "Send me a direct message")
		d.ann.Posts(thread, "!status")
		d.ann.Runs(thread, "/new")
		d.reads(thread, "This is a new conversation")
		d.ann.Posts(channelID, d.discord.MentionOfBot()) // nothing to answer

		// A card: long arguments, an ephemeral refusal, a reason, a decision.
		ask := d.ann.Posts(channelID, bot+"note add "+mentionText+strings.Repeat(" "+mentionText, 30)).ID
		card := d.card(ask, "Approval needed").ID
		d.eve.Clicks(ask, card, "Approve")
		d.readsEphemeral(ask, otherID, "not an approver")
		d.eve.Clicks(ask, card, "Withdraw")
		d.readsEphemeral(ask, otherID, "Only the person who asked")
		d.pressesUntilShown(ask, card, "Show all arguments", "note.add")
		d.bob.Clicks(ask, card, "Deny")
		if _, err := d.discord.WaitForModal(d.ctx(), deciderID); err != nil {
			t.Fatal(err)
		}
		d.bob.Submits(map[string]string{"reason": mentionText})
		d.shows(ask, card, "Denied")
		d.reads(ask, "I did not add it")
		ask = d.ann.Says("note add " + mentionText).Channel
		card = d.card(ask, "Approval needed").ID
		copied := d.card(d.discord.DMWith(deciderID), "Approval needed").ID
		d.bob.Clicks(d.discord.DMWith(deciderID), copied, "Approve")
		d.shows(ask, card, "Approved")
		d.shows(d.discord.DMWith(deciderID), copied, "Approved")
		d.reads(ask, "Done: ")

		// A long answer, and a failed one with Try again.
		d.ann.Posts(thread, "cry")
		d.reads(thread, "The end.")
		failed := d.card(fails.ID, "").ID
		model.failing.Store(false)
		d.ann.Clicks(fails.ID, failed, "Try again")
		d.reads(fails.ID, "did not understand")

		routes := d.mentionsNobody()
		answers := discordtest.AnswerInteraction
		if over == "HTTP" {
			answers = "answer over HTTP"
		}
		for _, route := range []string{
			discordtest.CreateMessage, discordtest.EditMessage, discordtest.FollowUp, answers,
		} {
			if routes[route] == 0 {
				t.Errorf("no message came by %s: %v", route, routes)
			}
		}
		for _, channel := range []string{channelID, thread, ask, fails.ID, d.discord.DMWith(deciderID)} {
			for _, m := range d.discord.FromBot(channel) {
				if m.Everyone || len(m.Mentions) > 0 || len(m.Roles) > 0 {
					t.Errorf("somebody is mentioned by %q", m.Content)
				}
			}
		}
		if over == "HTTP" {
			for _, i := range d.discord.Interactions() {
				if state := i.State(); state.Failed != "" {
					t.Errorf("an interaction failed: %+v", state)
				}
			}
		}
	})
}
