package main

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/console"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/adapters/web"
	"gatehouse/core"
)

// onePage is the approvals of a page that has one card.
type onePage struct {
	web.Approvals
	card core.Card
}

func (p onePage) Card(context.Context, core.ApprovalID, bool) (core.Card, error) { return p.card, nil }

func (onePage) Count(context.Context, core.ApprovalFilter) (int, error) { return 1, nil }

// allViews are those of an admin.
type allViews struct{ web.Views }

func (allViews) IsAdmin(core.Actor) bool { return true }

// cardOnPage is a card on the page of its approval.
func cardOnPage(t *testing.T, d core.Delivery, words ...map[string]string) string {
	t.Helper()
	pages := web.New(web.Options{
		Gate:      access.New(access.Options{Signer: adaptertest.Signer(t, "a key of many characters")}),
		Approvals: onePage{card: *d.Card},
		Views:     allViews{},
		Words:     first(words),
	})
	mux := http.NewServeMux()
	for pattern, h := range pages.Routes() {
		mux.Handle(pattern, h)
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	answer, err := server.Client().Get(server.URL + "/approvals/" + string(d.Card.Approval))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(b.String())
}

// cardOnDiscord is the text of a card that is posted to Discord.
func cardOnDiscord(t *testing.T, d core.Delivery) string {
	t.Helper()
	return strings.ReplaceAll(postedToDiscord(t, d, nil).Shown(), "\\", "")
}

func postedToDiscord(t *testing.T, d core.Delivery, words map[string]string) discordtest.Message {
	t.Helper()
	fake := discordtest.New(discordtest.Options{Fatalf: t.Errorf})
	defer fake.Close()
	fake.AddGuild(discordtest.Guild{ID: "100"})
	fake.AddChannel(discordtest.Channel{ID: "200", Guild: "100", Name: "general"})
	p := discord.New(core.Deps{
		Signer: adaptertest.Signer(t, "a key of many characters"),
		Cards:  adaptertest.Cards(), Blobs: &adaptertest.Blobs{},
		Owner: "one",
		KV:    struct{ core.KV }{}, Log: slog.New(slog.DiscardHandler), // it is not used
		Words: words,
	}, discord.Config{BotToken: fake.BotToken(), APIURL: fake.APIURL(), Shards: 1, Reply: "channel"})
	d.To = core.Address{Platform: "discord", Channel: "200"}
	if _, _, err := p.Post(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	posted := fake.FromBot("200")
	if len(posted) != 1 {
		t.Fatalf("%d messages were posted", len(posted))
	}
	return posted[0]
}

// shownOnSlack is all that a message shows: its text, its blocks and its attachments.
func shownOnSlack(m slacktest.Message) string {
	return html.UnescapeString(fmt.Sprint(m.Text, "\n", m.Shown(), "\n", m.Attachments))
}

func cardAtTerminal(t *testing.T, d core.Delivery, words ...map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	if _, _, err := console.New(console.Options{Out: &out, Words: first(words)}).Post(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// full is a card with every field set, in a state.
func full(t *testing.T, state core.ApprovalState) core.Delivery {
	noon := adaptertest.Noon
	bob, cleo, dan := core.Actor{ID: "openharness:bob", Name: "Bob"}, core.Actor{ID: "slack:U3", Name: "Cleo"},
		core.Actor{ID: "slack:U4", Name: "Dan"}
	c := core.Card{
		Approval: "0199aaaa-bbbb", State: state, Tool: "bank.pay", Summary: "Pay 20 to the milkman",
		Arguments: "{\n  \"amount\": 20\n}", Before: `{"amount": 2}`,
		Asked:  core.Asked{Message: "pay the milkman", Place: 2, Of: 3, Dropped: "Eve"},
		Hidden: 1234, Requester: "Ann", Requested: core.Actor{ID: "slack:U1", Name: "Ann"},
		Approvers: []string{"openharness:frank"}, Self: true,
		People: map[string]string{"slack:U9": "x"}, Voters: []core.Actor{bob, cleo}, Quorum: 7,
		Against: []core.Actor{dan}, Vetoes: 5, NeedsWhy: true, Direct: true,
		Risk: core.Dangerous, Changed: "pay 2", Editable: true, Batch: true, Edits: 3,
		Editor:   core.Actor{ID: "slack:U5", Name: "Gil"},
		Deadline: noon.Add(time.Hour), CreatedAt: noon.Add(-time.Hour),
		Context:      []core.Line{{Role: core.User, Text: "hello"}},
		Conversation: cardMailbox, From: core.Address{Platform: "slack", Channel: "C9"},
		Same: &core.Same{N: 2, Of: 3, First: "0199cccc-dddd", At: noon.Add(-2 * time.Minute)},
		Refused: &core.Refused{
			By: core.Actor{ID: "slack:U7", Name: "Iva"}, At: noon.Add(-4 * time.Minute), Reason: "too much",
		},
		LookAlikes: []string{"mіlkman (і is U+0456)"}, Memory: core.Memory{For: time.Hour, Uses: 4},
	}
	if state != core.Open {
		c.DecidedBy, c.Decided, c.DecidedAt, c.Reason = "Hal", core.Actor{ID: "slack:U6", Name: "Hal"},
			noon.Add(2*time.Minute), "it is due"
		c.Until = noon.Add(62 * time.Minute)
		c.Run, c.RunNote, c.RunAt, c.Voters = core.CallFailed, "No money left.", noon.Add(3*time.Minute), nil
	}
	return core.Delivery{Post: core.Post{
		Key: "card/1", Conversation: cardMailbox, Kind: core.PostCard, Approval: c.Approval,
	}, Card: &c}
}

const (
	everywhere = "everywhere"
	above      = "the message stands above the card"
)

// facts are the fields of core.Card: the card that has the field, and what is read of it; or why it is on no card.
var facts = map[string]struct {
	in    string
	reads []string // each may be written in one of the forms that "|" separates
	not   map[string]string
}{
	"Approval": {
		"open", []string{"0199aaaa-bbbb"},
		map[string]string{
			"openharness": "its extension has it", "slack": "it stands beside the coloured edge, apart from the text",
		},
	},
	"State":     {"approved", []string{"Approved by|approved by"}, nil},
	"Tool":      {"open", []string{"bank.pay"}, nil},
	"Summary":   {"open", []string{"Pay 20 to the milkman"}, nil},
	"Arguments": {"open", []string{`amount: 20|{"amount":20}|>amount</dt><dd dir="auto">20<`}, nil},
	"Said":      {not: map[string]string{everywhere: "the summary stands for the arguments then"}},
	"Before":    {"open", []string{"amount 2 → 20"}, nil},
	"Asked":     {"open", []string{"(2 of 3)", "Eve had changed the arguments"}, nil},
	"Question":  {"question", []string{"Which?"}, nil},
	"Answer":    {"answered", []string{"Bee"}, nil},
	"Hidden":    {"open", []string{"1,234 characters are hidden"}, nil},
	"Altered":   {"altered", []string{"It can't be approved."}, nil},
	"Requester": {"open", []string{"Ann"}, nil},
	"Requested": {"open", []string{"Ann"}, nil},
	"Approvers": {"open", []string{"frank"}, nil},
	"Self":      {not: map[string]string{everywhere: "whoever may decide is named"}},
	"People":    {not: map[string]string{everywhere: "a person is named once, whichever account they use"}},
	"Voters":    {"open", []string{"2 of 7: Bob, Cleo"}, nil},
	"Quorum":    {"open", []string{"2 of 7"}, nil},
	"Against":   {"open", []string{"1 of 5: Dan"}, nil},
	"Vetoes":    {"open", []string{"1 of 5"}, nil},
	"NeedsWhy":  {not: map[string]string{everywhere: "the form that denies asks for it"}},
	"Direct":    {not: map[string]string{everywhere: "it says where cards go"}},
	"DecidedBy": {"approved", []string{"Hal"}, nil},
	"Decided":   {"approved", []string{"Hal"}, nil},
	"Reason":    {"approved", []string{"it is due"}, nil},
	"Risk":      {"open", []string{"hard or impossible to undo"}, nil},
	"Changed":   {"open", []string{"The request was changed after it was made:", "pay 2"}, nil},
	"Batch":     {not: map[string]string{everywhere: "the list of approvals offers it together with others"}},
	"Editable":  {not: map[string]string{everywhere: "it is a button, where arguments can be changed"}},
	"Edits":     {"open", []string{"Changed by"}, nil},
	"Editor":    {"open", []string{"Gil"}, nil},
	"Deadline":  {"open", []string{at(adaptertest.Noon.Add(time.Hour))}, nil},
	"DecidedAt": {"approved", []string{at(adaptertest.Noon.Add(2 * time.Minute))}, nil},
	"CreatedAt": {"open", []string{at(adaptertest.Noon.Add(-time.Hour))}, map[string]string{
		"slack": "a message has its time", "discord": "a message has its time",
		"openharness": "its extension has the time", "terminal": "it is printed when it is asked, or said to be late",
	}},
	"Same":       {"open", []string{at(adaptertest.Noon.Add(-2 * time.Minute)), "2 of 3"}, nil},
	"Refused":    {"open", []string{"The same was denied by ", "Iva", "too much"}, nil},
	"LookAlikes": {"open", []string{"mіlkman (і is U+0456)"}, nil},
	"Memory":     {"open", []string{"the same call in this conversation for 1 hour, 4 times"}, nil},
	"Until":      {"approved", []string{at(adaptertest.Noon.Add(62 * time.Minute)), "4 times"}, nil},
	"Use":        {"used", []string{at(adaptertest.Noon.Add(62 * time.Minute)), "use 2 of 4"}, nil},
	"Run":        {"approved", []string{"Failed|failed"}, nil},
	"RunNote":    {"approved", []string{"No money left."}, nil},
	"RunAt":      {"approved", []string{at(adaptertest.Noon.Add(3 * time.Minute))}, nil},
	"Context": {not: map[string]string{everywhere: "a copy has it; the others are in the conversation, or lead " +
		"to it"}},
	"Conversation": {"open", []string{string(cardMailbox)}, map[string]string{
		"slack": "the card is in it", "discord": "the card is in it", "openharness": "the card is in it",
		"chat": "the card is in it", "terminal": "the card is in it",
	}},
	"From": {not: map[string]string{everywhere: "it is where the conversation is, which has a name"}},
}

// at is a time as the surfaces write it.
func at(t time.Time) string {
	return t.UTC().Format("2006-01-02 15:04 UTC") + "|" + t.UTC().Format(time.RFC3339) +
		"|" + t.Local().Format("2006-01-02 15:04 MST") + fmt.Sprintf("|<t:%d:", t.Unix())
}

// TestEveryFieldOfACardIsOnEverySurface, or the table says why it is not.
func TestEveryFieldOfACardIsOnEverySurface(t *testing.T) {
	t.Parallel()
	cards := map[string]core.Delivery{}
	for name, state := range map[string]core.ApprovalState{
		"open": core.Open, "altered": core.Open, "question": core.Open, "approved": core.Approved,
		"used": core.Approved, "answered": core.Answered,
	} {
		d := full(t, state)
		d.Card.Altered = name == "altered"
		if name == "question" || name == "answered" {
			d.Card.Question = askedOf(t)
		}
		if name == "answered" {
			d.Card.Answer = "Bee"
		}
		if name == "used" {
			d.Card.Use = &core.Use{Of: "0199cccc-dddd", N: 2, Uses: 4, Until: d.Card.Until}
		}
		cards[name] = d
	}
	for field := range reflect.TypeFor[core.Card]().Fields() {
		if _, known := facts[field.Name]; !known {
			t.Errorf("the table does not say where %s is", field.Name)
		}
	}
	surfaces := map[string]func(core.Delivery) string{
		"slack":       func(d core.Delivery) string { return shownOnSlack(postedToSlack(t, d)) },
		"openharness": func(d core.Delivery) string { return cardOnOpenHarness(t, d).Message },
		"discord":     func(d core.Delivery) string { return cardOnDiscord(t, d) },
		"chat":        func(d core.Delivery) string { return html.UnescapeString(cardOnOpenHarness(t, d).HTML) },
		"page":        func(d core.Delivery) string { return cardOnPage(t, d) },
		"terminal":    func(d core.Delivery) string { return cardAtTerminal(t, d) },
	}
	for surface, draw := range surfaces {
		drawn := map[string]string{}
		for name, d := range cards {
			drawn[name] = draw(d)
		}
		for name, fact := range facts {
			if fact.not[everywhere] != "" || fact.not[surface] != "" {
				continue
			}
			for _, forms := range fact.reads {
				if !containsOne(drawn[fact.in], strings.Split(forms, "|")) {
					t.Errorf("%s is not on the card of %s, which does not say %q:\n%s", name, surface, forms,
						drawn[fact.in])
				}
			}
		}
	}
}

// TestTheMessageOfACardIsOnItWhereItDoesNotStandAboveIt: on a page, and on a copy.
func TestTheMessageOfACardIsOnItWhereItDoesNotStandAboveIt(t *testing.T) {
	t.Parallel()
	d := full(t, core.Open)
	elsewhere := d
	elsewhere.Copy = true
	for card, text := range map[string]string{
		"page": cardOnPage(t, d), "copy on Slack": strings.Join(cardOnSlack(t, elsewhere), "\n"),
		"copy on Discord": cardOnDiscord(t, elsewhere),
	} {
		if !strings.Contains(text, "“pay the milkman”") {
			t.Errorf("the %s does not have the message:\n%s", card, text)
		}
	}
	for card, text := range map[string]string{
		"Slack": strings.Join(cardOnSlack(t, d), "\n"), "Discord": cardOnDiscord(t, d),
	} {
		if strings.Contains(text, "“pay the milkman”") {
			t.Errorf("the card on %s repeats the message:\n%s", card, text)
		}
	}
}

func containsOne(text string, forms []string) bool {
	for _, form := range forms {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}
