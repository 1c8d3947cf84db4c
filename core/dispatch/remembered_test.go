package dispatch_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/storage/postgres/postgrestest"
)

// memoryPolicy asks bob and dan for every note, one of them or, of wine, both. What they remember is good for two more
// calls. Salt is asked for a moment only.
type memoryPolicy struct{}

func (memoryPolicy) Rule(_ core.Turn, c core.Call) core.Rule {
	r := core.Rule{
		Name: "notes", Verdict: core.VerdictAsk, Approvers: []string{"room:bob", "room:dan"}, Quorum: 1, Vetoes: 1,
		Remember: time.Hour, RememberUses: 2, Edit: true,
	}
	switch {
	case strings.Contains(string(c.Arguments), "wine"):
		r.Name, r.Quorum = "wine", 2
	case strings.Contains(string(c.Arguments), "salt"):
		r.Name, r.Timeout = "salt", time.Millisecond
	}
	return r
}

// asked is a request as the model of the test knows it.
type asked struct {
	id        core.ApprovalID
	text, who string
	open      bool
	edits     int
	approved  map[string]bool // by whom, and whether they remembered it
	uses      int             // calls that it has allowed
	remembers bool
}

// memories is a conversation in which approvals are remembered, and the model of what they allow.
type memories struct {
	*bench
	room  core.ConversationID
	all   []*asked
	ran   []string // what shall be in the note book
	uses  int      // calls that a remembered approval allowed
	shown map[core.ApprovalID]bool
}

// look reads what was posted: each use has a card.
func (m *memories) look() {
	for {
		select {
		case d := <-m.bench.room.posted:
			if d.Conversation == m.room && d.Card != nil && d.Card.Use != nil {
				m.shown[d.Card.Approval] = true
			}
		case <-m.bench.room.edited:
		default:
			return
		}
	}
}

func (m *memories) settled() {
	m.t.Helper()
	for deadline := time.Now().Add(patience); ; settle() {
		left, err := m.store.Events(m.t.Context(), core.EventFilter{Waiting: true, Conversation: m.room})
		if err == nil && len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			m.t.Fatalf("%d events wait: %v", len(left), err)
		}
	}
}

func (m *memories) press(who string, c core.Click) core.EventRecord {
	payload, _ := json.Marshal(c)
	r := m.accept(core.Event{
		Conversation: m.room, Body: core.ClickEvent{Approval: c.Approval}, Payload: payload,
		Actor: core.Actor{ID: who, Name: who},
	})
	e := m.ended(r.Seq)
	m.settled()
	return e
}

// allows is the request whose approval allows a call, the latest first.
func (m *memories) allows(text string) *asked {
	for _, a := range slices.Backward(m.all) {
		if a.text == text && a.remembers && a.uses < 2 {
			return a
		}
	}
	return nil
}

// request has somebody ask for a note, and compares what becomes of it with the model.
func (m *memories) request(rt *rapid.T, who, text string) {
	before, open := m.stored(), 0
	for _, a := range before {
		if a.State == core.Open && a.Requester.ID == who {
			open++
		}
	}
	if open == 20 {
		rt.Skip("as many of their requests wait as may")
	}
	payload, _ := json.Marshal("note add " + text)
	r := m.accept(
		core.Event{
			Conversation: m.room, Body: core.MessageEvent{}, Payload: payload, Actor: core.Actor{ID: who, Name: who},
		})
	m.ended(r.Seq)
	m.settled()
	fresh := m.stored()
	if len(fresh) != len(before)+1 {
		rt.Fatalf("%s asked for %s: %d approvals more", who, text, len(fresh)-len(before))
	}
	a := fresh[0]
	switch by := m.allows(text); {
	case by == nil && (a.Use != nil || a.State != core.Open):
		rt.Fatalf("%s asked for %s, which nobody allows, and it is %s: %+v", who, text, a.State, a.Use)
	case by == nil:
		for text == "salt" && time.Now().Before(a.Deadline) { // on a fast machine a press would still be in time
			settle()
		}
		m.all = append(m.all, &asked{id: a.ID, text: text, who: who, open: true, approved: map[string]bool{}})
	case a.Use == nil || a.Use.Of != by.id || a.Use.N != by.uses+1 || a.Use.Uses != 2:
		rt.Fatalf("%s asked for %s, which %s allows once more: %+v", who, text, by.id, a.Use)
	default:
		by.uses++
		m.uses++
		m.ran = append(m.ran, text)
	}
}

// stored are the approvals of the conversation, the latest first.
func (m *memories) stored() []core.Approval {
	all, err := m.store.ListApprovals(m.t.Context(), core.ApprovalFilter{Conversation: m.room})
	if err != nil {
		m.t.Fatal(err)
	}
	return all
}

// decide presses a button of a request. mark is whether it is remembered.
func (m *memories) decide(a *asked, who string, c core.Choice, mark bool) {
	m.press(who,
		core.Click{Approval: a.id, Choice: c, Edits: a.edits, Remember: mark, Reason: "x", Changed: `{"text": "oil"}`})
	switch {
	case c == core.Forget:
		a.remembers = false
	case !a.open || a.text == "salt" && c != core.Withdraw: // it has expired
	case c == core.Withdraw:
		a.open = a.open && a.who != who
	case c == core.Deny:
		a.open = false
	case c == core.Edit && a.text != "wine" && a.text != "oil":
		a.text, a.edits, a.approved = "oil", a.edits+1, map[string]bool{}
	case c != core.Approve:
	default:
		if _, voted := a.approved[who]; !voted {
			a.approved[who] = mark
		}
		if needed := map[bool]int{true: 2, false: 1}[a.text == "wine"]; len(a.approved) >= needed {
			a.open, a.remembers = false, !slices.Contains(values(a.approved), false)
			m.ran = append(m.ran, a.text)
		}
	}
}

func values(of map[string]bool) (all []bool) {
	for _, v := range of {
		all = append(all, v)
	}
	return all
}

// TestProperty_NoUseBeyondWhatAPressAllowed: requests, votes, changes, denials, withdrawals, expiries, stops, presses
// that remember and that stop it, and restarts, in random order, against a small model: each call that runs was
// approved, or is one of those that a remembered approval allows, and each of these has its card.
func TestProperty_NoUseBeyondWhatAPressAllowed(t *testing.T) {
	databases := map[string]func(t *testing.T) string{
		"sqlite":   func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return postgrestest.New(t) },
	}
	checks := "20"
	if os.Getenv("GATEHOUSE_PROPERTY_ROUNDS") != "" {
		checks = "500"
	}
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			at := setup{path: database(t), policy: memoryPolicy{}.Rule}
			var service *approvals.Service
			at.service = func(s *approvals.Service) {
				service = s
				tools := &tool.Executor{Tools: tool.NewRegistry(tool.NoteAdd(nil))}
				s.LetEdit(approvals.Editing{Tools: tools.Tools, Policy: memoryPolicy{}})
			}
			b := newBench(t, at)
			at.path = b.path
			for key, value := range map[string]string{
				"rapid.checks": checks, "rapid.steps": "40", "rapid.nofailfile": "true",
			} {
				before := flag.Lookup(key).Value.String()
				if err := flag.Set(key, value); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = flag.Set(key, before) })
			}
			n, uses := 0, 0
			rapid.Check(t, func(rt *rapid.T) {
				n++
				m := &memories{
					bench: b, room: core.ConversationID(fmt.Sprintf("room:%d", n)), shown: map[core.ApprovalID]bool{},
				}
				anybody := rapid.SampledFrom(
					[]string{"room:bob", "room:ann" + string(m.room), "room:cat" + string(m.room)})
				pick := func(rt *rapid.T) *asked {
					if len(m.all) == 0 {
						rt.Skip("nothing was asked")
					}
					return rapid.SampledFrom(m.all[max(0, len(m.all)-3):]).Draw(rt, "request")
				}
				approver := rapid.SampledFrom([]string{"room:bob", "room:dan"})
				request := func(rt *rapid.T) {
					who := rapid.SampledFrom([]string{"room:ann" + string(m.room), "room:cat" + string(m.room)}).Draw(
						rt, "who")
					m.request(rt, who,
						rapid.SampledFrom([]string{"milk", "milk", "milk", "oil", "wine", "salt"}).Draw(rt, "text"))
				}
				remember := func(rt *rapid.T) { m.decide(pick(rt), approver.Draw(rt, "who"), core.Approve, true) }
				rt.Repeat(map[string]func(*rapid.T){
					"request": request, "and another request": request, "one more request": request,
					"remember": remember, "remember more": remember,
					"approve":  func(rt *rapid.T) { m.decide(pick(rt), approver.Draw(rt, "who"), core.Approve, false) },
					"deny":     func(rt *rapid.T) { m.decide(pick(rt), approver.Draw(rt, "who"), core.Deny, false) },
					"edit":     func(rt *rapid.T) { m.decide(pick(rt), approver.Draw(rt, "who"), core.Edit, false) },
					"withdraw": func(rt *rapid.T) { m.decide(pick(rt), anybody.Draw(rt, "who"), core.Withdraw, false) },
					"forget":   func(rt *rapid.T) { m.decide(pick(rt), approver.Draw(rt, "who"), core.Forget, false) },
					"stranger": func(rt *rapid.T) {
						a := pick(rt)
						for _, c := range []core.Choice{core.Approve, core.Deny, core.Edit, core.Forget} {
							m.press("room:eve",
								core.Click{
									Approval: a.id, Choice: c, Edits: a.edits, Remember: c == core.Approve,
									Changed: `{"text": "oil"}`,
								})
						}
					},
					"expire": func(rt *rapid.T) {
						if a := pick(rt); a.text == "salt" && a.open {
							if err := service.Expire(t.Context(), a.id); err != nil {
								rt.Fatal(err)
							}
							a.open = false
							m.settled()
						}
					},
					"stop": func(*rapid.T) { m.ended(m.word(m.room, "stop").Seq) },
					"restart": func(rt *rapid.T) {
						if rapid.IntRange(0, 4).Draw(rt, "seldom") > 0 {
							rt.Skip("not now")
						}
						b.stop()
						m.look()
						b = newBench(t, at)
						m.bench = b
					},
					"": func(rt *rapid.T) {
						if got := b.notes(m.room); !slices.Equal(got, m.ran) {
							rt.Fatalf("the note book has %q, want %q", got, m.ran)
						}
						m.look()
					},
				})
				for deadline := time.Now().Add(patience); len(m.shown) < m.uses; settle() {
					if m.look(); time.Now().After(deadline) {
						rt.Fatalf("%d uses have a card, of %d", len(m.shown), m.uses)
					}
				}
				uses += m.uses
			})
			if t.Logf("%d uses", uses); uses < 5 {
				t.Errorf("only %d approvals were used again in all sequences", uses)
			}
		})
	}
}
