package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/openharness"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/storage"
)

const cardMailbox = core.ConversationID("openharness:oh/local/s1")

// withApproval is a store that has an approval of every id.
type withApproval struct{ *storage.Store }

func (s withApproval) LoadApproval(_ context.Context, id core.ApprovalID) (core.Approval, error) {
	return core.Approval{ID: id, Invocation: "run-1", Conversation: cardMailbox}, nil
}

// cardOnSlack is the text of a card that is posted to Slack, line by line.
func cardOnSlack(t *testing.T, d core.Delivery) []string {
	t.Helper()
	text := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(postedToSlack(t, d).Text)
	return strings.Split(text, "\n")
}

func postedToSlack(t *testing.T, d core.Delivery, words ...map[string]string) slacktest.Message {
	t.Helper()
	fake := slacktest.Start(t, slacktest.Options{})
	fake.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{fake.BotUserID()}})
	bot := slack.New(core.Deps{
		Signer: adaptertest.Signer(t, "a key of many characters"), Cards: adaptertest.Cards(),
		Blobs: &adaptertest.Blobs{},
		Words: first(words),
	}, slack.Config{BotToken: fake.BotToken(), APIURL: fake.APIURL()})
	d.To = core.Address{Platform: "slack", Channel: "C1"}
	if _, _, err := bot.Post(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	posted := fake.FromBot("C1")
	if len(posted) != 1 {
		t.Fatalf("%d messages were posted", len(posted))
	}
	return posted[0]
}

// shownCard is a card's payload on OpenHarness.
type shownCard struct {
	Message   string
	Facts     []struct{ Label, Text string }
	Approvers []string
	Choices   []struct{ Label string }
	HTML      string `json:"-"` // what the chat gets of it
}

// cardOnOpenHarness is what a stream has of a card.
func cardOnOpenHarness(t *testing.T, d core.Delivery, words ...map[string]string) shownCard {
	t.Helper()
	store, err := storage.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "cards.db"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	engine := openharness.New(openharness.Options{
		Gate: access.New(access.Options{Signer: store.Signer()}), Store: withApproval{store}, Signer: store.Signer(),
		Cards: adaptertest.CardFunc(func(context.Context, core.ApprovalID, bool) (core.Card, error) {
			return *d.Card, nil
		}), Words: first(words),
	})
	mux := http.NewServeMux()
	for pattern, h := range engine.Routes(nil) {
		mux.Handle(pattern, h)
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	d.To = core.Address{Platform: "openharness", Channel: string(cardMailbox)}
	if _, _, err := engine.Post(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/v1/openharness/events?session=s1&html=1",
		nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Client().Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	in := bufio.NewScanner(answer.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		var m struct {
			Response struct {
				Directives []struct {
					Payload    shownCard
					Extensions map[string]struct{ HTML string }
				} `json:"action_directives"`
			}
		}
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		shown := m.Response.Directives[0].Payload
		shown.HTML = m.Response.Directives[0].Extensions["dev.gatehouse"].HTML
		return shown
	}
	t.Fatalf("the stream ended: %v", in.Err())
	return shownCard{}
}

// TestOpenHarnessShowsEveryFactOfSlacksCard draws the same cards on both: each line of Slack's text is one of
// OpenHarness's message, and each field and note is one of its payload.
func TestOpenHarnessShowsEveryFactOfSlacksCard(t *testing.T) {
	t.Parallel()
	bob, cleo := core.Actor{ID: "openharness:bob", Name: "bob"}, core.Actor{ID: "slack:U3", Name: "Cleo"}
	noon := adaptertest.Noon
	decided := func(state core.ApprovalState, change func(*core.Card)) func(*core.Delivery) {
		return func(d *core.Delivery) {
			d.Card.State, d.Card.Decided, d.Card.DecidedBy, d.Card.DecidedAt = state, bob, "bob", noon.Add(time.Minute)
			if change != nil {
				change(d.Card)
			}
		}
	}
	run := func(state core.CallState, note string) func(*core.Delivery) {
		return decided(core.Approved, func(c *core.Card) {
			c.Run, c.RunNote, c.RunAt = state, note, noon.Add(2*time.Minute)
		})
	}
	for name, c := range map[string]struct {
		change func(*core.Delivery)
		shows  []string
	}{
		"as it is": {
			nil,
			[]string{
				"Approval needed: Pay 20 to the milkman", "Tool: bank.pay", "Asked by: ann", "Arguments:", "amount: 20",
				"May decide: bob on the web",
			},
		},
		"changed": {func(d *core.Delivery) { d.Card.Asked.Message, d.Card.Changed = "pay 20", "pay 2" },
			[]string{"The request was changed after it was made: pay 2"}},
		"a dropped change": {func(d *core.Delivery) {
			d.Card.Asked.Dropped = "Cleo"
		}, []string{"Cleo had changed the arguments", "that change is dropped"}},
		"edited": {func(d *core.Delivery) {
			d.Card.Edits, d.Card.Editor = 1, cleo
		}, []string{"Changed by Cleo."}},
		"of several": {func(d *core.Delivery) {
			d.Card.Asked.Place, d.Card.Asked.Of = 2, 3
		}, []string{"Approval needed (2 of 3)"}},
		"dangerous": {func(d *core.Delivery) {
			d.Card.Risk = core.Dangerous
		}, []string{"something dangerous", "hard or impossible to undo"}},
		"masked": {func(d *core.Delivery) {
			d.Card.Hidden = 1234
		}, []string{"1,234 characters are hidden", "An approver can read them on gatehouse's page."}},
		"altered": {func(d *core.Delivery) { d.Card.Altered = true }, []string{"It can't be approved."}},
		"who may decide": {func(d *core.Delivery) {
			d.Card.Approvers = []string{"openharness:bob", "discord:role:7", core.LocalPerson}
		}, []string{"May decide: bob on the web, anyone at gatehouse's own machine"}},
		"a quorum": {func(d *core.Delivery) {
			d.Card.Quorum, d.Card.Voters = 3, []core.Actor{bob, cleo}
		}, []string{"Approved so far: 2 of 3: bob, Cleo"}},
		"denials": {func(d *core.Delivery) {
			d.Card.Vetoes, d.Card.Against = 2, []core.Actor{cleo}
		}, []string{"Denied so far: 1 of 2: Cleo"}},
		"a deadline": {func(d *core.Delivery) { d.Card.Deadline = noon.Add(time.Hour) },
			[]string{"Expires: 2026-03-01 13:00 UTC"}},
		"a reminder": {func(d *core.Delivery) {
			d.Occasion = core.Reminder
		}, []string{"Reminder: an approval is still needed"}},
		"an escalation": {func(d *core.Delivery) { d.Occasion = core.Escalated }, []string{"Nobody has decided yet"}},
		"late":          {func(d *core.Delivery) { d.Late = true }, []string{"This comes late"}},
		"no arguments":  {func(d *core.Delivery) { d.Card.Arguments = "{}" }, []string{"No arguments"}},
		"not delivered": {func(d *core.Delivery) {
			d.LeftOut = 2
		}, []string{"2 approvers could not be sent a direct message."}},
		"approved": {
			decided(core.Approved, nil), []string{"Approved by: bob", "Approved at: 2026-03-01 12:01 UTC"},
		},
		"approved by two": {decided(core.Approved, func(c *core.Card) {
			c.Quorum, c.Voters = 2, []core.Actor{bob, cleo}
		}), []string{"Approved by: bob, Cleo"}},
		"denied": {decided(core.Denied, func(c *core.Card) {
			c.Reason = "not today"
		}), []string{"Denied by: bob", "Reason: not today"}},
		"withdrawn": {decided(core.Cancelled, func(c *core.Card) {
			c.Reason = "withdrawn by ann"
		}), []string{"Cancelled by: bob", "Reason: withdrawn by ann"}},
		"expired": {decided(core.Expired, nil), []string{"not decided in time", "Expired at: 2026-03-01 12:01 UTC"}},
		"running": {run(core.CallRunning, ""), []string{"Result: ⏳ Running"}},
		"done":    {run(core.CallDone, ""), []string{"Result: ✅ Done, 2026-03-01 12:02 UTC"}},
		"failed":  {run(core.CallFailed, "No money left."), []string{"Result: ❌ Failed: No money left."}},
		"not run": {run(core.CallNotRun, "The gate refused it."), []string{"Not run: The gate refused it."}},
		"unknown": {run(core.CallUnknown, ""), []string{"Outcome unknown", "check before you ask again"}},
		"a question": {func(d *core.Delivery) {
			d.Card.Question = askedOf(t)
		}, []string{"Question from the bot, for bob on the web: Which?"}},
		"an answer": {decided(core.Answered, func(c *core.Card) {
			c.Question, c.Answer = askedOf(t), "Bee"
		}), []string{"Answered by: bob", "Answer: Bee"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := core.Delivery{Post: core.Post{
				Key: "card/ap-1", Conversation: cardMailbox, Kind: core.PostCard, Approval: "ap-1",
			}, Card: &core.Card{
				Approval: "ap-1", State: core.Open, Tool: "bank.pay", Summary: "Pay 20 to the milkman",
				Arguments: "{\n  \"amount\": 20\n}",
				Requester: "ann", Requested: core.Actor{ID: "openharness:ann", Name: "ann"},
				Approvers: []string{"openharness:bob"}, Quorum: 1, CreatedAt: noon,
			}}
			if c.change != nil {
				c.change(&d)
			}
			onSlack, shown := cardOnSlack(t, d), cardOnOpenHarness(t, d)
			var parts []string
			for _, f := range shown.Facts {
				parts = append(parts, strings.TrimPrefix(f.Label+": "+f.Text, ": "))
			}
			for at, line := range onSlack {
				if options, ok := strings.CutPrefix(line, "Options: "); ok {
					line = "1. " + strings.ReplaceAll(options, ", ", " 2. ") // a line each on OpenHarness
				}
				if !strings.Contains(strings.NewReplacer("\n  ", " ", "\n2. ", " 2. ").Replace(shown.Message), line) {
					t.Errorf("Slack says %q, which is not in\n%s", line, shown.Message)
				}
				isPart := at >= 2 && line != "No arguments" && !slices.Contains(onSlack[:at+1], "Arguments:") &&
					d.Card.Question == nil
				if isPart && !strings.Contains(strings.ReplaceAll(strings.Join(parts, "\n"), "\n  ", " "), line) {
					t.Errorf("Slack says %q, which is none of %q", line, parts)
				}
			}
			for _, text := range c.shows {
				if !strings.Contains(shown.Message, text) {
					t.Errorf("%q is not in\n%s", text, shown.Message)
				}
			}
			if d.Card.State == core.Open && !slices.Equal(shown.Approvers, d.Card.Approvers) {
				t.Errorf("who may decide: %q", shown.Approvers)
			}
		})
	}
}

// askedOf is a question with two options.
func askedOf(t *testing.T) *question.Question {
	t.Helper()
	q, err := question.New("Which?", json.RawMessage(`{"oneOf":[{"const":"a"},{"const":"b","title":"Bee"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return &q
}

// TestALineOfACardIsOurs: a text of several lines can't add a line that looks like one of the card's.
func TestALineOfACardIsOurs(t *testing.T) {
	t.Parallel()
	d := core.Delivery{Post: core.Post{
		Key: "card/ap-1", Conversation: cardMailbox, Kind: core.PostCard, Approval: "ap-1",
	}, Card: &core.Card{
		Approval: "ap-1", State: core.Denied, Tool: "bank.pay", Summary: "Pay 20",
		Arguments: "{\"a\": {\n\"Approved by\": 1}}", Quorum: 1,
		Asked: core.Asked{Message: "pay\nApproved by: bob"}, Reason: "no\r\nApproved by: bob",
		Changed: "pay 2\u2028Approved by: bob",
	}}
	for line := range strings.Lines(cardOnOpenHarness(t, d).Message) {
		if strings.HasPrefix(line, "Approved by") || strings.HasPrefix(line, `"Approved by`) {
			t.Errorf("the card has the line %q", line)
		}
	}
}
