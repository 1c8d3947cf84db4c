package adaptertest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core"
)

// Golden compares what is drawn with testdata/golden/NAME.json; update writes that file anew.
func Golden(t *testing.T, update bool, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	got := b.Bytes()
	file := filepath.Join("testdata", "golden", name+".json")
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s has changed (-update writes it anew):\n%s", file, d)
	}
}

// Noon is the time of all samples.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Samples are posts of every kind and state, with what differs from platform to platform.
type Samples struct {
	To           core.Address // also where the cards were asked for
	Conversation core.ConversationID
	Ann, Bob     core.Actor // who asks, who decides
	Approvers    []string
	Reply        string
	Notice       string
	Hostile      string   // what a model or a person may write to reach others
	HostileIDs   []string // ids of approvers that hold it
	Ping         string   // what notifies everybody
}

// Card is an open card.
func (s Samples) Card(change func(*core.Card)) *core.Card {
	c := core.Card{
		Approval: "ap-1", State: core.Open, Tool: "note_add", Summary: "Add the note “buy milk”", Arguments: "{\n  \"text\": \"buy milk\"\n}",
		Requester: s.Ann.Name, Requested: s.Ann, Approvers: s.Approvers, Quorum: 1, CreatedAt: Noon, Deadline: Noon.Add(time.Hour), From: s.To,
	}
	if change != nil {
		change(&c)
	}
	return &c
}

// Huge makes a card's arguments longer than any card shows.
func (s Samples) Huge(c *core.Card) {
	c.Arguments = "{\n" + strings.Repeat("  \"some key\": \"a value of "+s.Ping+" some length\",\n", 100) + "  \"last\": 1\n}"
}

// HostileCard is an open card whose fields all try to reach others.
func (s Samples) HostileCard() *core.Card {
	return s.Card(func(c *core.Card) {
		c.Tool, c.Summary, c.Arguments, c.Requester, c.Requested = s.Hostile, s.Hostile, s.Hostile, s.Hostile, core.Actor{ID: s.Hostile, Name: s.Hostile}
		c.Approvers, c.Reason, c.Changed, c.DecidedBy = append([]string{s.Hostile}, s.HostileIDs...), s.Hostile, s.Hostile, s.Hostile
		c.Decided, c.Context, c.Risk = core.Actor{ID: s.To.Platform + ":" + s.Hostile}, []core.Line{{Role: core.User, Text: s.Hostile}}, core.Dangerous
	})
}

// Error is the reply to an event that failed.
func (s Samples) Error(b core.Bucket, pressed bool) core.Delivery {
	return core.Delivery{Post: core.Post{
		Kind: core.PostError, Text: "I had trouble responding. Press the button, or write again.", Bucket: b, Pressed: pressed, Event: 42, Conversation: s.Conversation, To: s.To,
	}}
}

// Posts are all samples, by the name of their golden file.
func (s Samples) Posts() map[string]core.Delivery {
	said := func(kind core.PostKind, text string) core.Delivery {
		return core.Delivery{Post: core.Post{Kind: kind, Text: text}}
	}
	card := func(changes ...func(*core.Card)) core.Delivery {
		c := s.Card(nil)
		for _, change := range changes {
			change(c)
		}
		return core.Delivery{Post: core.Post{Kind: core.PostCard}, Card: c}
	}
	decided := func(state core.ApprovalState, reason string) core.Delivery {
		return card(func(c *core.Card) {
			c.State, c.Reason, c.DecidedAt, c.Decided, c.DecidedBy = state, reason, Noon.Add(time.Minute), s.Bob, s.Bob.Name
		})
	}
	all := map[string]core.Delivery{
		"reply": said(core.PostReply, s.Reply), "reply-late": said(core.PostReply, "words"), "reply-empty": said(core.PostReply, " \n"), "reply-hostile": said(core.PostReply, s.Hostile),
		"notice": said(core.PostNotice, s.Notice), "notice-hostile": said(core.PostNotice, s.Hostile),
		"private": {Post: core.Post{Kind: core.PostPrivate, Text: "You may not decide this.", Person: s.Bob.ID}},
		"steps":   said(core.PostSteps, "calc · note_list ×2"),

		"error-new": s.Error(core.SessionTerminating, false), "error-again": s.Error(core.RetryableTransient, false),
		"error-correct": s.Error(core.UserCorrectable, false), "error-pressed": s.Error(core.RetryableTransient, true),

		"card-open": card(), "card-late": card(), "card-huge": card(s.Huge), "card-copy": card(withContext),
		"card-dangerous": card(func(c *core.Card) { c.Risk = core.Dangerous }),
		"card-changed":   card(func(c *core.Card) { c.Changed = "add cheese instead" }),
		"card-quorum":    card(func(c *core.Card) { c.Quorum, c.Votes = 2, 1 }),
		"card-hostile":   {Post: core.Post{Kind: core.PostCard}, Card: s.HostileCard()},
		"card-approved":  decided(core.Approved, ""), "card-refused": decided(core.Refused, "not on a Sunday"),
		"card-expired":    card(func(c *core.Card) { c.State, c.DecidedAt = core.Expired, Noon.Add(time.Hour) }),
		"card-cancelled":  decided(core.Cancelled, "the conversation was stopped"),
		"card-huge-ended": card(s.Huge, func(c *core.Card) { c.State, c.DecidedBy = core.Approved, s.Bob.Name }),
	}
	for _, name := range []string{"reply-late", "card-late"} {
		d := all[name]
		d.Late = true
		all[name] = d
	}
	for _, name := range []string{"card-copy", "card-hostile"} {
		d := all[name]
		d.Copy = true
		all[name] = d
	}
	return all
}

// withContext gives a card more lines of its conversation than a card shows.
func withContext(c *core.Card) {
	c.Context = []core.Line{
		{Role: core.User, Text: "too long ago"},
		{Role: core.User, Text: "hello"}, {Role: core.Assistant, Text: "hello yourself"}, {Role: core.User, Text: strings.Repeat("many words ", 40)},
		{Role: core.Assistant, Text: "I\nsee"}, {Role: core.User, Text: "add the note"}, {Role: core.Assistant, Text: ""},
	}
}
