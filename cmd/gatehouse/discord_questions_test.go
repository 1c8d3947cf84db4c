package main

import (
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// askers is a policy in which questions may be for the person who asked, and for the role of the deciders.
const askers = `
version: 1
asks:
  - tools: [people.ask]
    to: [requester, "discord:role:` + roleID + `"]
`

// ofBoth asks the person who wrote and the deciders.
const ofBoth = `"of":["requester","discord:role:` + roleID + `"]`

// seven is the schema of a form that has two pages on Discord.
const seven = `{"type":"object","required":["size","count","name"],"properties":{"size":{"title":"Size",` +
	`"oneOf":[{"const":"s","title":"Small"},{"const":"m","title":"Medium"}]},` +
	`"count":{"type":"integer","minimum":1,"maximum":9},"price":{"type":"number"},"gift":{"type":"boolean"},` +
	`"note":{"type":"string"},"name":{"type":"string"},"why":{"type":"string"}}}`

// discordAsks serves Discord with the policy askers, and lets ann write a message for which people are asked. It
// returns the thread and the card.
func discordAsks(
	t *testing.T, env map[string]string, args string,
) (d *discordGateway, thread string, card discordtest.Message) {
	t.Helper()
	if env == nil {
		env = map[string]string{}
	}
	env["GATEHOUSE_APPROVAL_POLICY"] = policyFile(t, askers)
	d = serveDiscord(t, discordtest.Options{}, env)
	thread = d.ann.Posts(channelID, d.discord.MentionOfBot()+" call people.ask "+args).ID
	return d, thread, d.card(thread, "Question from the bot")
}

// form waits for the form that a person has open.
func (d *discordGateway) form(user string) discordtest.Modal {
	d.t.Helper()
	m, err := d.discord.WaitForModal(d.ctx(), user)
	if err != nil {
		d.t.Fatalf("%v\n%s", err, d.discord.Dump())
	}
	return m
}

// continues waits for a text that only one person sees, and presses its button.
func (d *discordGateway) continues(who *discordtest.Person, channel, text, button string) {
	d.t.Helper()
	m, err := d.discord.WaitForEphemeral(d.ctx(), channel, who.ID, text)
	if err != nil {
		d.t.Fatalf("%v\n%s", err, d.discord.Dump())
	}
	for _, b := range m.Buttons() {
		if b.Label == button {
			who.Presses(b)
			return
		}
	}
	d.t.Fatalf("there is no button %q below %q", button, text)
}

// replied counts the bot's messages in a thread that have a text.
func (d *discordGateway) replied(thread, text string) (n int) {
	for _, m := range d.discord.FromBot(thread) {
		if strings.Contains(m.Content, text) {
			n++
		}
	}
	return n
}

// TestDiscordOptionsAreAnsweredByButton, by whom the question is for, and once.
func TestDiscordOptionsAreAnsweredByButton(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d, thread, card := discordAsks(t, env, `{"question":"Which?\nSay.","schema":{"enum":["a","b"]},`+ofBoth+`}`)
		if text := card.Shown(); !strings.Contains(text, "> Which?\n> Say.") || !strings.Contains(text, "[a] [b]") ||
			strings.Contains(text, "Approve") {
			t.Errorf("the card:\n%s", text)
		}
		other, _ := d.discord.FindButton(thread, card.ID, "a")
		d.eve.Presses(other)
		d.readsEphemeral(thread, otherID, "This question is for somebody else.")
		d.bob.Clicks(thread, card.ID, "b")
		d.reads(thread, `bob answered: "b"`)
		d.shows(thread, card.ID, "**Answer:** b")
		d.ann.Presses(other)
		d.readsEphemeral(thread, askerID, "This was answered by")
		if n := d.replied(thread, "answered: "); n != 1 {
			t.Errorf("%d answers are used", n)
		}
	})
}

func TestDiscordManyOptionsAreAMenu(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d, thread, card := discordAsks(t, env,
			`{"question":"Which?","schema":{"enum":["a","b","c","d","e","f","g",8]}}`)
		menu, ok := d.discord.FindMenu(thread, card.ID)
		if !ok || len(menu.Options) != 8 {
			t.Fatalf("the card:\n%s", card.Shown())
		}
		d.eve.ChoosesIn(menu, "a")
		d.readsEphemeral(thread, otherID, "This question is for somebody else.")
		d.ann.Chooses(thread, card.ID, "8")
		d.reads(thread, `ann answered: 8`)
		d.shows(thread, card.ID, "**Answer:** 8")
		d.ann.ChoosesIn(menu, "c")
		d.readsEphemeral(thread, askerID, "This was answered by")
	})
}

// TestDiscordAFormHasPages: what is refused can be corrected, and what was filled in is kept.
func TestDiscordAFormHasPages(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d, thread, card := discordAsks(t, env, `{"question":"What shall I order?","schema":`+seven+`}`)
		d.eve.Clicks(thread, card.ID, "Answer")
		d.readsEphemeral(thread, otherID, "This question is for somebody else.")
		d.ann.Clicks(thread, card.ID, "Answer")
		d.form(askerID)
		d.ann.Submits(map[string]string{"Size": "Medium", "count": "12", "gift": "No"})
		d.continues(d.ann, thread, "count: this must be 9 or less", "Answer")
		if m := d.form(askerID); m.Inputs[0].Value != "2" || m.Inputs[1].Value != "12" {
			t.Errorf("what was filled in is lost: %+v", m.Inputs)
		}
		d.ann.Submits(map[string]string{"count": "4"})
		d.continues(d.ann, thread, "Page 1 of 2 is filled in", "Continue")
		d.form(askerID)
		d.ann.Submits(map[string]string{"name": "Ann", "why": "it rains"})
		d.reads(thread, `ann answered: {"size":"m","count":4,"gift":false,"name":"Ann","why":"it rains"}`)
		d.readsEphemeral(thread, askerID, "Your answer is sent.")
		d.shows(thread, card.ID, "> Size: Medium\n> count: 4\n> gift: No\n> name: Ann\n> why: it rains")
	})
}

// TestDiscordATextIsAnsweredInAForm, which may be sent after the answer of somebody else: it is told so.
func TestDiscordATextIsAnsweredInAForm(t *testing.T) {
	t.Parallel()
	d, thread, card := discordAsks(t, nil, `{"question":"Why?",`+ofBoth+`}`)
	d.ann.Clicks(thread, card.ID, "Answer")
	d.form(askerID)
	d.bob.Clicks(thread, card.ID, "Answer")
	d.form(deciderID)
	d.ann.Submits(map[string]string{"Your answer": "@everyone, it rains"})
	d.reads(thread, `ann answered: "@`)
	d.bob.Submits(map[string]string{"Your answer": "it is cold"})
	d.readsEphemeral(thread, deciderID, "This was answered by")
	d.shows(thread, card.ID, "it rains")
	if n := d.replied(thread, "answered: "); n != 1 {
		t.Errorf("%d answers are used", n)
	}
	d.mentionsOnlyAsked()
}

// mentionsOnlyAsked fails if a message pings anybody but those whom its card asks.
func (d *discordGateway) mentionsOnlyAsked() {
	d.t.Helper()
	for _, b := range d.bodies() {
		allowed, _ := b.fields["allowed_mentions"].(map[string]any)
		if parse, ok := allowed["parse"].([]any); !ok || len(parse) > 0 ||
			!b.isCard() && (allowed["users"] != nil || allowed["roles"] != nil) {
			d.t.Errorf("%s: it mentions %v", b.route, allowed)
		}
	}
}

func TestDiscordAQuestionExpires(t *testing.T) {
	t.Parallel()
	d, thread, card := discordAsks(t, nil, `{"question":"Which?","schema":{"enum":["a","b"]},"expires":"1s"}`)
	button, _ := d.discord.FindButton(thread, card.ID, "a")
	d.reads(thread, "Nobody answered in time.")
	waitUntil(t, func() bool {
		m, _ := d.discord.Message(thread, card.ID)
		return strings.Contains(m.Shown(), "nobody answered in time") && !strings.Contains(m.Shown(), "Withdraw")
	}, "the expired card")
	d.ann.Presses(button)
	d.readsEphemeral(thread, askerID, "This question expired")
	d.ann.Clicks(thread, card.ID, "Ask again")
	waitUntil(t, func() bool {
		return d.replied(thread, "Nobody answered in time.") == 2
	}, "the end of the second question")
	if n := d.replied(thread, "answered: "); n != 0 {
		t.Errorf("%d answers are used", n)
	}
}

func TestDiscordAQuestionIsWithdrawn(t *testing.T) {
	t.Parallel()
	d, thread, card := discordAsks(t, nil,
		`{"question":"Which?","schema":{"enum":["a","b"]},"of":["discord:role:`+roleID+`"]}`)
	d.bob.Clicks(thread, card.ID, "Withdraw")
	d.readsEphemeral(thread, deciderID, "Only the person who asked can withdraw")
	d.ann.Clicks(thread, card.ID, "Withdraw")
	d.reads(thread, "The question was withdrawn")
	d.shows(thread, card.ID, "Withdrawn")
}

// TestDiscordKilledBetweenAQuestionAndItsAnswer: whenever the process is killed, the model gets the answer exactly
// once.
func TestDiscordKilledBetweenAQuestionAndItsAnswer(t *testing.T) {
	t.Parallel()
	for _, point := range []string{
		"", "Accept.after", "Decide.before", "Decide.after", "SaveSession.before", "SaveSession.after",
		"ReleasePost.after",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			p := newDiscordProcess(t, sqliteFile, discordtest.Options{},
				"GATEHOUSE_APPROVAL_POLICY="+policyFile(t, askers))
			p.open()
			p.waitConnected()
			ask := p.ann.Posts(channelID,
				p.discord.MentionOfBot()+` call people.ask {"question":"Which?","schema":{"enum":["a","b"]},`+ofBoth+
					`}`)
			card := p.waitForCard(ask)
			p.until("the end of the turn so far", p.app, p.settled)
			p.app.kill()
			p.open(armed(point, 1, "")...)
			armed := p.app
			p.waitConnected()
			p.bob.Clicks(ask.ID, card.ID, "b")
			p.untilRestarting("the answer", func() bool {
				return p.replied(ask.ID, `bob answered: "b"`) > 0 && p.settled()
			})
			if point != "" && p.app == armed {
				t.Error("it was not killed")
			}
			p.app.kill()
			p.usedOnce(ask.ID, card.ID)
		})
	}
}

// usedOnce fails unless a question in a thread was answered once, and the answer is in the history once.
func (p *discordProcess) usedOnce(thread, card string) {
	t := p.serveProcess.t
	t.Helper()
	answered := p.approvals(core.Answered)
	if len(answered) != 1 || len(p.approvals()) != 1 || p.replied(thread, "answered: ") != 1 {
		t.Fatalf("%d of %d questions are answered, and it is used %d times:\n%s", len(answered), len(p.approvals()),
			p.replied(thread, "answered: "), p.discord.Dump())
	}
	rec, err := p.store.LoadSession(t.Context(), answered[0].Session, core.Writer{})
	if err != nil || rec == nil || rec.Messages == nil {
		t.Fatalf("the history: %+v, %v", rec, err)
	}
	all, err := rec.Messages.Tail(t.Context(), 100)
	noErr(t, err)
	results := 0
	for _, m := range all {
		if m.Role == core.ToolRole && strings.Contains(m.Content.Own(), `"outcome":"answered","answer":"b"`) {
			results++
		}
	}
	if results != 1 {
		t.Errorf("the model got the answer %d times: %+v", results, all)
	}
	if m, _ := p.discord.Message(thread, card); !strings.Contains(m.Shown(), "**Answer:** b") || len(m.Buttons()) > 0 {
		t.Errorf("the card does not show the answer:\n%s", m.Shown())
	}
}
