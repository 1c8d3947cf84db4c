package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/console"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// sameCards are cards in every state, each with another fact.
func sameCards() map[string]core.Delivery {
	at := time.Date(2026, 11, 25, 10, 30, 0, 0, time.UTC)
	ann, bob, cid := core.Actor{ID: "slack:U1ANN", Name: "Ann"}, core.Actor{ID: "slack:U2BOB", Name: "Bob"},
		core.Actor{ID: "slack:U3CID", Name: "Cid"}
	card := func(change func(*core.Card)) core.Delivery {
		c := core.Card{
			Approval: "0199aaaa-bbbb", State: core.Open, Tool: "pay.send", Summary: "Pay 20",
			Arguments: "{\n  \"euros\": 20\n}", Requester: "Ann", Requested: ann,
			Approvers: []string{bob.ID, cid.ID}, Quorum: 1, Vetoes: 1, Deadline: at,
			From: core.Address{Platform: "slack", Channel: "C1"},
		}
		change(&c)
		return core.Delivery{Post: core.Post{
			Kind: core.PostCard, Key: "card/1", Approval: c.Approval,
			To: core.Address{Platform: "slack", Channel: "C1"},
		}, Card: &c}
	}
	decided := func(state core.ApprovalState, change func(*core.Card)) core.Delivery {
		return card(func(c *core.Card) {
			c.State, c.DecidedBy, c.Decided, c.DecidedAt = state, "Bob", bob, at
			change(c)
		})
	}
	ran := func(state core.CallState, note string) core.Delivery {
		return decided(core.Approved, func(c *core.Card) {
			c.Run, c.RunNote, c.RunAt = state, note, at.Add(time.Minute)
		})
	}
	all := map[string]core.Delivery{
		"open":            card(func(*core.Card) {}),
		"about a message": card(func(c *core.Card) { c.Asked = core.Asked{Message: "please pay 20", Place: 2, Of: 3} }),
		"changed":         card(func(c *core.Card) { c.Changed = "pay 2" }),
		"edited":          card(func(c *core.Card) { c.Edits, c.Editor = 1, cid }),
		"a dropped edit":  card(func(c *core.Card) { c.Asked.Dropped = "Cid" }),
		"votes": card(func(c *core.Card) {
			c.Quorum, c.Voters, c.Vetoes, c.Against = 3, []core.Actor{bob}, 2, []core.Actor{cid}
		}),
		"dangerous": card(func(c *core.Card) { c.Risk = core.Dangerous }),
		"hidden":    card(func(c *core.Card) { c.Hidden = 1234 }),
		"altered":   card(func(c *core.Card) { c.Altered = true }),
		"several":   decided(core.Approved, func(c *core.Card) { c.Quorum, c.Voters = 2, []core.Actor{bob, cid} }),
		"denied":    decided(core.Denied, func(c *core.Card) { c.Reason, c.Changed = "too much", "pay 2" }),
		"cancelled": decided(core.Cancelled, func(c *core.Card) { c.Reason = "withdrawn by Ann" }),
		"expired":   decided(core.Expired, func(*core.Card) {}),
		"running":   ran(core.CallRunning, ""),
		"done":      ran(core.CallDone, ""),
		"failed":    ran(core.CallFailed, "No money left."),
		"not run":   ran(core.CallNotRun, "Its turn was cancelled."),
		"in doubt":  ran(core.CallUnknown, ""),
		"edited, ran": decided(core.Approved, func(c *core.Card) {
			c.Edits, c.Editor, c.Run, c.RunAt = 1, cid, core.CallDone, at
		}),
	}
	for name, change := range map[string]func(*core.Delivery){
		"some not told": func(d *core.Delivery) { d.LeftOut = 2 },
		"quiet":         func(d *core.Delivery) { d.Quiet = true },
		"late":          func(d *core.Delivery) { d.Late = true },
		"a reminder":    func(d *core.Delivery) { d.Occasion = core.Reminder },
		"escalated":     func(d *core.Delivery) { d.Occasion = core.Escalated },
	} {
		d := card(func(*core.Card) {})
		change(&d)
		all[name] = d
	}
	return all
}

// inTerminal are the words with which the terminal says what Slack says in words of its own.
var inTerminal = strings.NewReplacer(
	"🔔 Approval needed (2 of 3)", "Pay 20 (2 of 3)", "🔔 Approval needed", "wants your approval",
	"⚠️ Approval needed for something dangerous", "wants your approval", "⛔ Denied", "denied", "✅ Approved", "approved",
	"🚫 Cancelled", "cancelled", "⌛ Expired: it was not decided in time", "expired without a decision",
	"May decide: an approver, an approver", "May decide: slack:U2BOB, slack:U3CID",
	"Arguments:", "arguments:", "euros: 20", `{"euros":20}`,
)

// TestTheTerminalShowsEveryFactOfSlacksCard: each line that Slack's card has is a line, or a part of one, at the
// terminal.
func TestTheTerminalShowsEveryFactOfSlacksCard(t *testing.T) {
	signer, err := core.NewSigner("a key that is long enough")
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range sameCards() {
		workspace := slacktest.New(slacktest.Options{Fatalf: t.Errorf})
		workspace.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{workspace.BotUserID()}})
		there := slack.New(core.Deps{
			Signer: signer,
			Cards: adaptertest.CardFunc(func(context.Context, core.ApprovalID, bool) (core.Card, error) {
				return *d.Card, nil
			}),
			Blobs: &adaptertest.Blobs{},
		}, slack.Config{BotToken: workspace.BotToken(), AppToken: workspace.AppToken(), APIURL: workspace.APIURL()})
		if _, _, err := there.Post(t.Context(), d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		posted := workspace.FromBot("C1")[0]
		workspace.Close()
		var out bytes.Buffer
		if _, _, err := console.New(console.Options{Out: &out}).Post(t.Context(), d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := posted.Text
		if d.Late {
			text += "\n" + posted.Shown()[:strings.Index(posted.Shown(), "\n")]
		}
		for fact := range strings.Lines(text) {
			fact = inTerminal.Replace(strings.TrimSpace(fact))
			label, value, labelled := strings.Cut(fact, ": ")
			if !strings.Contains(out.String(), fact) && (!labelled || !saidInDecision(out.String(), label, value)) {
				t.Errorf("%s: the terminal does not say %q:\n%s", name, fact, out.String())
			}
		}
	}
}

// saidInDecision reports whether a decision's line says by whom, when or why it was made.
func saidInDecision(out, label, value string) bool {
	first, _, _ := strings.Cut(out, "\n")
	word, how, _ := strings.Cut(label, " ")
	switch how {
	case "by", "at":
		return strings.Contains(first, strings.ToLower(word)) && strings.Contains(first, " "+how+" "+value)
	}
	return label == "Reason" && strings.Contains(first, "("+value+")")
}

// TestTheTerminalShowsWhatIsNewOnACard, once: a change of the request, a vote, the decision and what became of the
// call.
func TestTheTerminalShowsWhatIsNewOnACard(t *testing.T) {
	var out bytes.Buffer
	c := console.New(console.Options{Out: &out})
	d := sameCards()["votes"]
	show := func(change func(*core.Card), want string) {
		t.Helper()
		change(d.Card)
		out.Reset()
		for range 2 {
			if err := c.Edit(t.Context(), "", d); err != nil {
				t.Fatal(err)
			}
		}
		if want != "" && out.String() != want {
			t.Errorf("got\n%s\nwant\n%s", out.String(), want)
		}
	}
	show(func(c *core.Card) { c.Deadline = time.Time{} }, "")
	show(func(c *core.Card) {
		c.Changed = "pay 2"
	}, "approval> Pay 20 – The request was changed after it was made: pay 2\n")
	show(func(c *core.Card) {
		c.Voters = append(c.Voters, core.Actor{ID: "slack:U4DAN", Name: "Dan"})
	}, "approval> Pay 20 – Approved so far: 2 of 3: Bob, Dan\n")
	show(func(c *core.Card) {
		c.State, c.DecidedBy, c.Voters = core.Approved, "Eve", nil
	}, "approval> approved by Eve: Pay 20\n")
	show(func(c *core.Card) {
		c.Run, c.RunNote = core.CallFailed, "No money left."
	}, "approval> Pay 20 – Result: ❌ Failed: No money left.\n")
}
