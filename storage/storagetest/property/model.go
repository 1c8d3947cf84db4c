package property

import (
	"fmt"
	"maps"
	"slices"

	"gatehouse/core"
	"gatehouse/storage/storagetest/sample"
)

// model is the contract in memory, as simple as possible. It has no clock: a wait is over at once or lasts until the
// clock is next advanced; an epoch counts the advances.
type model struct {
	events        map[int64]*modelEvent
	conversations map[core.QueueKey]*modelConversation
	sessions      map[core.SessionID][]modelRow
	paused        map[core.InvocationID]core.PausedRecord
	approvals     map[core.ApprovalID]*modelApproval
	halted        bool // Admin.SetPaused
	epoch         int
	delays        int
}

type modelEvent struct {
	core.Event
	seq              int64
	invocation       core.InvocationID
	session          core.SessionID
	attempt, retries int
	backsOff         bool
	due              int // the number of its delay: a later delay ends later; 0: it was never delayed
	end              core.EndKind
	erased           bool            // with its session
	epoch            int             // of its acceptance
	again            int64           // the event that tries this one again
	askedFor         core.ApprovalID // if that was asked for by an approval's button
}

type modelConversation struct {
	generation int // of a conversation, from 1
	fence      int64
	holder     *core.Claim // the last one who claimed and did not end; a dead one's fence is -1
	stop       int64
}

type modelRow struct {
	invocation core.InvocationID
	n          int
	text       string
}

type modelApproval struct {
	state        core.ApprovalState
	invocation   core.InvocationID
	conversation core.ConversationID
	session      core.SessionID
	quorum       int
	timeout      bool // it has until the next epoch
	epoch        int
	voters       []string
	begun        bool
	run          core.CallState
	withdrawn    int64 // by this click
}

func newModel() *model {
	return &model{
		events: map[int64]*modelEvent{}, conversations: map[core.QueueKey]*modelConversation{},
		sessions: map[core.SessionID][]modelRow{},
		paused:   map[core.InvocationID]core.PausedRecord{}, approvals: map[core.ApprovalID]*modelApproval{},
	}
}

func (m *model) conversation(q core.QueueKey) *modelConversation {
	if m.conversations[q] == nil {
		m.conversations[q] = &modelConversation{generation: 1}
	}
	return m.conversations[q]
}

// session returns the conversation's session in its present generation.
func (m *model) session(l core.ConversationID) core.SessionID {
	return l.Session(m.conversation(l.Queue()).generation)
}

// waiting returns the events of a queue that have not ended, in order.
func (m *model) waiting(q core.QueueKey) []*modelEvent {
	var all []*modelEvent
	for _, seq := range slices.Sorted(maps.Keys(m.events)) {
		if e := m.events[seq]; e.end == "" && e.QueueKey() == q {
			all = append(all, e)
		}
	}
	return all
}

// next returns the event that a claim of the queue must return; nil if there is none.
func (m *model) next(q core.QueueKey) *modelEvent {
	if m.conversation(q).held() {
		return nil
	}
	var head *modelEvent
	for _, e := range m.waiting(q) {
		if e.Kind() == core.KindSignal && !e.backsOff {
			return e
		}
		if e.Kind() != core.KindSignal && head == nil {
			head = e
		}
	}
	if head == nil || head.backsOff {
		return nil
	}
	return head
}

// suspect reports whether a queue counts as one of suspects: if what was due first is one. That is the message before a
// signal that was delayed, even when the signal's delay is over.
func (m *model) suspect(q core.QueueKey) bool {
	var signal, message *modelEvent
	for _, e := range m.waiting(q) {
		switch {
		case e.Kind() != core.KindSignal && message == nil:
			message = e
		case e.Kind() == core.KindSignal && (signal == nil || e.due < signal.due):
			signal = e
		}
	}
	if signal == nil || message != nil && message.due < signal.due {
		signal = message
	}
	return signal != nil && signal.attempt >= 2
}

// ready returns all events that could be claimed now: those of turns, of turns that are suspects, or of controls.
func (m *model) ready(controls, suspects bool) map[int64]bool {
	all := map[int64]bool{}
	for _, e := range m.events {
		isControl := e.QueueKey() != e.Conversation.Queue()
		if n := m.next(e.QueueKey()); n != nil && isControl == controls &&
			(controls || !m.halted && m.suspect(n.QueueKey()) == suspects) {
			all[n.seq] = true
		}
	}
	return all
}

// holds reports whether the claim still holds its conversation.
func (m *model) holds(c core.Claim) bool {
	h := m.conversation(c.Key).holder
	return h != nil && h.Fence == c.Fence && h.Owner == c.Owner
}

// expire ends the holder's claim.
func (m *model) expire(c core.Claim) { m.conversation(c.Key).holder = nil }

// held reports whether the holder lives.
func (l *modelConversation) held() bool { return l.holder != nil && l.holder.Fence >= 0 }

// die takes an owner's claims away; their events have begun nevertheless.
func (m *model) die(owner string) {
	for _, l := range m.conversations {
		if l.holder != nil && l.holder.Owner == owner {
			dead := *l.holder
			dead.Fence = -1
			l.holder = &dead
		}
	}
}

// pass advances the clock: all waits are over.
func (m *model) pass() {
	m.epoch++
	for _, e := range m.events {
		e.backsOff = false
	}
}

// save replaces the rows of an invocation from a number on.
func (m *model) save(id core.SessionID, w core.Writer, texts []string) {
	rows := slices.DeleteFunc(slices.Clone(m.sessions[id]), func(r modelRow) bool {
		return r.invocation == w.Invocation && r.n >= w.From
	})
	for i, t := range texts {
		rows = append(rows, modelRow{w.Invocation, w.From + i, t})
	}
	m.sessions[id] = rows
}

// texts returns a session's texts for a writer, without the messages of its own earlier attempt.
func (m *model) texts(id core.SessionID, w core.Writer) []string {
	all := []string{}
	for _, r := range m.sessions[id] {
		if r.invocation != w.Invocation || r.n < w.From {
			all = append(all, r.text)
		}
	}
	return all
}

// abandon ends a paused invocation: rows are appended, signals withdrawn, and its approval cancelled unless it was
// refused, begun or has ended.
func (m *model) abandon(id core.InvocationID, text string, except int64) {
	rec, ok := m.paused[id]
	if !ok {
		return
	}
	delete(m.paused, id)
	if text != "" {
		n := rec.Messages
		for _, r := range m.sessions[rec.Session] {
			if r.invocation == id {
				n = max(n, r.n+1)
			}
		}
		m.sessions[rec.Session] = append(m.sessions[rec.Session], modelRow{id, n, text})
	}
	for _, e := range m.events {
		if e.Kind() == core.KindSignal && e.invocation == id && e.end == "" && e.seq != except {
			e.end = core.EndWithdrawn
		}
	}
	for _, a := range m.approvals {
		if a.invocation == id && !a.begun && (a.state == core.Open || a.state == core.Approved) {
			a.state = core.Cancelled
		}
	}
	m.endCalls(id)
}

// endCalls says what became of the approved calls of an invocation that is no longer paused.
func (m *model) endCalls(id core.InvocationID) {
	for _, a := range m.approvals {
		switch {
		case a.invocation != id || a.state != core.Approved:
		case a.run == core.CallWaits:
			a.run = core.CallNotRun
		case a.run == core.CallRunning:
			a.run = core.CallUnknown
		}
	}
}

// decide returns the expected result of a decision: its error's category, and whether it settles the approval. It
// changes the model.
func (m *model) decide(a *modelApproval, d core.Decision) (refused core.Category, settled bool) {
	at := m.epoch
	if d.Event != 0 {
		at = m.events[d.Event].epoch
	}
	late := a.timeout && at > a.epoch
	switch {
	case d.Event != 0 && slices.Contains(a.voters, voter(d)):
		return "", false // the same click again
	case d.Event != 0 && d.Event == a.withdrawn:
		return "", false
	case d.Expire && a.state == core.Open && m.clickInTime(d.Approval, a):
		return core.StoreBusy, false
	case a.state != core.Open:
		return core.ApprovalDecided, false
	case d.Expire && !late:
		return core.Invalid, false
	case d.Expire:
		a.state = core.Expired
	case d.Cancel:
		a.state = core.Cancelled
	case d.Vote.Choice == core.Withdraw && d.Vote.Actor.ID != sample.Ann.ID:
		return core.NotAllowed, false
	case d.Vote.Choice == core.Withdraw:
		a.state, a.withdrawn = core.Cancelled, d.Event
	case late:
		return core.ApprovalExpired, false
	case d.Vote.Actor.ID != sample.Bob.ID && d.Vote.Actor.ID != sample.Cleo.ID:
		return core.NotAllowed, false
	case d.Vote.Choice == core.Approve && slices.ContainsFunc(a.voters, func(v string) bool {
		return v[:len(d.Vote.Actor.ID)] == d.Vote.Actor.ID
	}):
		return core.ApprovalDecided, false
	default:
		a.voters = append(a.voters, voter(d))
		if d.Vote.Choice == core.Deny {
			a.state = core.Denied
		} else if len(a.voters) >= a.quorum {
			a.state = core.Approved
		}
	}
	return "", a.state != core.Open
}

// voter identifies a vote by user and click.
func voter(d core.Decision) string {
	return fmt.Sprintf("%s#%d", d.Vote.Actor.ID, d.Event)
}

func (m *model) clickInTime(id core.ApprovalID, a *modelApproval) bool {
	return a.timeout &&
		slices.ContainsFunc(m.waiting(core.Event{Body: core.ClickEvent{Approval: id}}.QueueKey()),
			func(e *modelEvent) bool {
				return e.epoch <= a.epoch
			})
}
