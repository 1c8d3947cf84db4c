package adaptertest

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Golden compares a drawing, as JSON, with its file in testdata/golden.
func Golden(t testing.TB, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	GoldenText(t, name+".json", b.Bytes())
}

// GoldenText compares a text with its file in testdata/golden.
func GoldenText(t testing.TB, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
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
		t.Errorf("%s has changed (-update rewrites it):\n%s", file, d)
	}
}

// Noon is the time at which the sample approvals were made.
var Noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Samples makes the posts whose drawings are golden files, with the ids and the markup of a platform.
type Samples struct {
	Ann, Bob     core.Actor
	Approvers    []string
	From         core.Address
	Conversation core.ConversationID
	Broadcast    string // a mention of everybody
	Reply        string // a reply with all the markup that the platform knows
	Notice       string
	Hostile      string   // a text with which a model or a person may try to attack others
	Prefixes     []string // the prefixes of the ids of groups and people
	Context      []core.Line
}

// Card returns an open card, modified by change unless that is nil.
func (s Samples) Card(change func(*core.Card)) *core.Card {
	c := core.Card{
		Approval: "ap-1", State: core.Open, Tool: "note.add", Summary: "Add the note “buy milk”",
		Arguments: "{\n  \"text\": \"buy milk\"\n}",
		Requester: s.Ann.Name, Requested: s.Ann, Approvers: s.Approvers, Quorum: 1, CreatedAt: Noon,
		Deadline: Noon.Add(time.Hour), From: s.From,
	}
	if change != nil {
		change(&c)
	}
	return &c
}

// HostileCard returns a card with hostile text in every text field.
func (s Samples) HostileCard(state core.ApprovalState) *core.Card {
	h := s.Hostile
	return s.Card(func(c *core.Card) {
		c.State, c.Tool, c.Summary, c.Arguments, c.Requester, c.Requested = state, h, h, h, h,
			core.Actor{ID: h, Name: h}
		c.Approvers, c.Reason, c.Changed, c.DecidedBy = []string{h, s.Prefixes[0] + h, s.Prefixes[1] + h}, h, h, h
		c.Decided = core.Actor{ID: s.From.Platform + ":" + h}
		c.Context, c.Risk, c.Asked = []core.Line{{Role: core.User, Text: h}}, core.Dangerous,
			core.Asked{Message: h, Dropped: h}
	})
}

// Huge returns arguments that are too long for any card.
func (s Samples) Huge() string {
	return "{\n" + strings.Repeat("  \"some key\": \"a value of "+s.Broadcast+" some length\",\n", 100) +
		"  \"last\": 1\n}"
}

// Error returns the post of an error, its button pressed or not.
func (s Samples) Error(b core.Bucket, pressed bool) core.Delivery {
	return core.Delivery{Post: core.Post{
		Kind: core.PostError, Text: "I had trouble responding. Press the button, or write again.", Bucket: b,
		Pressed: pressed, Event: 42,
		Conversation: s.Conversation, To: s.From,
	}}
}

// Deliveries returns the posts by the names of their golden files.
func (s Samples) Deliveries() map[string]core.Delivery {
	decided := func(state core.ApprovalState, reason string) *core.Card {
		return s.Card(func(c *core.Card) {
			c.State, c.Reason, c.DecidedAt = state, reason, Noon.Add(time.Minute)
			c.Decided, c.DecidedBy = s.Bob, s.Bob.Name
		})
	}
	ran := func(state core.CallState, note string) *core.Card {
		c := decided(core.Approved, "")
		c.Run, c.RunNote, c.RunAt = state, note, Noon.Add(2*time.Minute)
		return c
	}
	huge := s.Huge()
	all := map[string]core.Delivery{
		"reply":          {Post: core.Post{Kind: core.PostReply, Text: s.Reply}},
		"reply-late":     {Post: core.Post{Kind: core.PostReply, Text: "words"}, Late: true},
		"reply-empty":    {Post: core.Post{Kind: core.PostReply, Text: " \n"}},
		"reply-hostile":  {Post: core.Post{Kind: core.PostReply, Text: s.Hostile}},
		"notice":         {Post: core.Post{Kind: core.PostNotice, Text: s.Notice}},
		"notice-hostile": {Post: core.Post{Kind: core.PostNotice, Text: s.Hostile}},
		"private":        {Post: core.Post{Kind: core.PostPrivate, Text: "You may not decide this.", Person: s.Bob.ID}},
		"steps":          {Post: core.Post{Kind: core.PostSteps, Text: "demo.calc · note.list ×2"}},
		"error-new":      s.Error(core.SessionTerminating, false),
		"error-again":    s.Error(core.RetryableTransient, false),
		"error-correct":  s.Error(core.UserCorrectable, false),
		"error-pressed":  s.Error(core.RetryableTransient, true),
		"card-open":      {Card: s.Card(nil)},
		"card-late":      {Card: s.Card(nil), Late: true},
		"card-dangerous": {Card: s.Card(func(c *core.Card) { c.Risk = core.Dangerous })},
		"card-huge":      {Card: s.Card(func(c *core.Card) { c.Arguments = huge })},
		"card-changed":   {Card: s.Card(func(c *core.Card) { c.Changed = "add cheese instead" })},
		"card-quorum":    {Card: s.Card(func(c *core.Card) { c.Quorum, c.Voters = 2, []core.Actor{s.Bob} })},
		"card-vetoes": {Card: s.Card(func(c *core.Card) {
			c.Vetoes, c.Against, c.NeedsWhy = 2, []core.Actor{s.Bob}, true
		})},
		"card-reminder":  {Post: core.Post{Occasion: core.Reminder}, Card: s.Card(nil)},
		"card-escalated": {Post: core.Post{Occasion: core.Escalated}, Card: s.Card(nil)},
		"card-several": {Card: s.Card(func(c *core.Card) {
			c.Asked = core.Asked{Message: "buy milk, and pay “Ann”", Place: 2, Of: 3}
		})},
		"card-quiet":    {Post: core.Post{Quiet: true}, Card: s.Card(nil)},
		"card-left-out": {Post: core.Post{LeftOut: 5}, Card: s.Card(nil)},
		"card-approved-by-several": {Card: s.Card(func(c *core.Card) {
			c.State, c.DecidedAt, c.Decided, c.DecidedBy, c.Quorum, c.Voters = core.Approved, Noon.Add(time.Minute),
				s.Bob, s.Bob.Name, 2, []core.Actor{s.Ann, s.Bob}
		})},
		"card-copy": {Post: core.Post{Copy: true, Person: s.Bob.ID}, Card: s.Card(func(c *core.Card) {
			c.Context = s.Context
		})},
		"card-hostile":  {Post: core.Post{Copy: true, Person: s.Bob.ID}, Card: s.HostileCard(core.Open)},
		"card-approved": {Card: decided(core.Approved, "")},
		"card-denied":   {Card: decided(core.Denied, "not on a Sunday")},
		"card-expired": {Card: s.Card(func(c *core.Card) {
			c.State, c.DecidedAt = core.Expired, Noon.Add(time.Hour)
		})},
		"card-cancelled": {Card: decided(core.Cancelled, "the conversation was stopped")},
		"card-running":   {Card: ran(core.CallRunning, "")},
		"card-done":      {Card: ran(core.CallDone, "")},
		"card-failed":    {Card: ran(core.CallFailed, "The note book is full.")},
		"card-not-run":   {Card: ran(core.CallNotRun, "The rules changed after the approval was requested.")},
		"card-unknown":   {Card: ran(core.CallUnknown, "")},
		"card-altered":   {Card: s.Card(func(c *core.Card) { c.Altered = true })},
		"card-masked": {Card: s.Card(func(c *core.Card) {
			c.Hidden, c.Arguments = 40, "{\n  \"token\": \"•••••• (40 characters hidden)\"\n}"
		})},
		"card-nested": {Card: s.Card(func(c *core.Card) {
			c.Arguments = "{\n  \"to\": [\n    \"ann\"\n  ],\n  \"n\": 5\n}"
		})},
		"card-flat": {Card: s.Card(func(c *core.Card) {
			c.Arguments = "{\n  \"n\": 5,\n  \"text\": \"5\",\n  \"more\": \"a: b\",\n  \"line\": \"a\\nb\"\n}"
		})},
		"card-editable": {Card: s.Card(func(c *core.Card) { c.Editable = true })},
		"card-edited": {Card: s.Card(func(c *core.Card) {
			c.Editable, c.Edits, c.Editor, c.Arguments = true, 2, s.Bob, "{\n  \"text\": \"buy oat milk\"\n}"
			c.Before = "{\n  \"text\": \"buy milk\"\n}"
		})},
		"card-said":    {Card: s.Card(func(c *core.Card) { c.Said = true })},
		"card-dropped": {Card: s.Card(func(c *core.Card) { c.Asked.Dropped = s.Bob.Name })},
		"card-again": {Post: core.Post{Pressed: true}, Card: s.Card(func(c *core.Card) {
			c.State, c.DecidedAt = core.Expired, Noon.Add(time.Hour)
		})},
		"card-huge-ended": {Card: s.Card(func(c *core.Card) {
			c.State, c.Arguments, c.DecidedBy = core.Approved, huge, s.Bob.Name
		})},
	}
	maps.Copy(all, s.questions())
	for name, d := range all {
		if d.Card != nil {
			d.Kind = core.PostCard
			all[name] = d
		}
	}
	return all
}
