// Package admin is the commands that show and change what gatehouse keeps in its database (sessions, turns, approvals,
// dead letters, the queue), and those that need no database: config, manifest, join-check and mutation-check. Commands
// that read fail with not_found where there is no database, and create none.
//
// Everything printed is cleaned of characters that a terminal might obey. Secrets are masked everywhere but in sessions
// export.
package admin

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/core/mask"
	"gatehouse/core/question"
	"gatehouse/core/tool"
)

// The views are the JSON output of the commands. Scripts rely on their keys.

type sessionView struct {
	Session       core.SessionID      `json:"session"`
	Conversation  core.ConversationID `json:"conversation"`
	SchemaVersion string              `json:"schema_version"`
	Messages      int                 `json:"messages"`
	CreatedAt     time.Time           `json:"created_at"`
	UpdatedAt     time.Time           `json:"updated_at"`
}

func viewSession(s core.SessionSummary) sessionView {
	return sessionView{s.ID, s.ID.Conversation(), s.SchemaVersion, s.Messages, s.CreatedAt.UTC(), s.UpdatedAt.UTC()}
}

type turnView struct {
	Seq          int64               `json:"seq"`
	State        string              `json:"state"`
	Platform     string              `json:"platform"`
	ID           string              `json:"id"`
	Kind         core.Kind           `json:"kind"`
	Subject      string              `json:"subject,omitempty"`
	Conversation core.ConversationID `json:"conversation"`
	Session      core.SessionID      `json:"session,omitempty"`
	Invocation   core.InvocationID   `json:"invocation,omitempty"`
	Actor        core.Actor          `json:"actor"`
	AcceptedAt   time.Time           `json:"accepted_at"`
	EndedAt      time.Time           `json:"ended_at,omitzero"`
	NotBefore    time.Time           `json:"not_before,omitzero"`
	Attempt      int                 `json:"attempt"`
	Retries      int                 `json:"retries"`
	RetryOf      int64               `json:"retry_of,omitempty"`
	Category     core.Category       `json:"category,omitempty"`
	Cause        string              `json:"cause,omitempty"`
	Sequel       *sequel             `json:"sequel,omitempty"` // in turns list, of a suspended turn
}

func viewTurn(e core.EventRecord) turnView {
	return turnView{
		Seq: e.Seq, State: turnState(e), Platform: e.Platform, ID: e.ID, Kind: e.Kind(), Subject: e.Subject(),
		Conversation: e.Conversation, Session: e.Session,
		Invocation: e.Invocation, Actor: e.Actor, AcceptedAt: e.AcceptedAt.UTC(), EndedAt: e.EndedAt.UTC(),
		NotBefore: e.NotBefore.UTC(),
		Attempt:   e.Attempt, Retries: e.Retries, RetryOf: e.RetryOf, Category: e.End.Category,
		Cause: mask.Text(e.End.Cause),
	}
}

// turnState is how an event ended, or why it has not ended yet.
func turnState(e core.EventRecord) string {
	switch {
	case !e.EndedAt.IsZero() || e.End.Kind != "":
		return string(e.End.Kind)
	case e.NotBefore.After(time.Now()):
		return "backing off"
	}
	return "waiting"
}

type approvalView struct {
	ID           core.ApprovalID     `json:"id"`
	State        core.ApprovalState  `json:"state"`
	Conversation core.ConversationID `json:"conversation"`
	Session      core.SessionID      `json:"session"`
	Invocation   core.InvocationID   `json:"invocation"`
	Tool         string              `json:"tool"`
	Summary      string              `json:"summary"`
	Arguments    json.RawMessage     `json:"arguments"` // secrets masked
	Digest       string              `json:"digest"`
	Requester    core.Actor          `json:"requester"`
	Rule         core.Rule           `json:"rule"`
	Votes        []core.Vote         `json:"votes"` // secrets masked
	DecidedBy    *core.Actor         `json:"decided_by,omitempty"`
	Reason       string              `json:"reason,omitempty"` // secrets masked
	CreatedAt    time.Time           `json:"created_at"`
	DecidedAt    time.Time           `json:"decided_at,omitzero"`
	Deadline     time.Time           `json:"deadline,omitzero"`
	Begun        bool                `json:"begun"`

	Question *question.Question `json:"question,omitempty"` // secrets masked
	Answer   json.RawMessage    `json:"answer,omitempty"`   // of a question that was answered; secrets masked
}

func viewApproval(a core.Approval) approvalView {
	v := approvalView{
		ID: a.ID, State: a.State, Conversation: a.Conversation, Session: a.Session, Invocation: a.Invocation,
		Tool:    a.Call.Tool,
		Summary: a.Call.Mask(a.Call.Summary), Arguments: a.Call.Masked(), Digest: a.Call.Digest,
		Requester: a.Requester, Rule: a.Rule, Votes: maskedVotes(a.Votes), Reason: mask.Text(a.Reason),
		CreatedAt: a.CreatedAt.UTC(), DecidedAt: a.DecidedAt.UTC(),
		Deadline: a.Deadline.UTC(), Begun: a.Begun,
	}
	if a.State != core.Open {
		v.DecidedBy = &a.DecidedBy
	}
	if a.Question != nil {
		v.Question, v.Answer = maskedQuestion(*a.Question), maskedAnswer(a.Answer())
	}
	return v
}

// maskedVotes returns a copy of votes with the secrets in their reasons and answers hidden.
func maskedVotes(votes []core.Vote) []core.Vote {
	all := append([]core.Vote{}, votes...)
	for i := range all {
		all[i].Reason, all[i].Answer = mask.Text(all[i].Reason), maskedAnswer(all[i].Answer)
	}
	return all
}

type intentView struct {
	Tool     string        `json:"tool"`
	BegunAt  time.Time     `json:"begun_at"`
	EndedAt  time.Time     `json:"ended_at,omitzero"`
	Result   *string       `json:"result"` // null: unknown
	Category core.Category `json:"category,omitempty"`
}

// viewIntent is nil for a call that never began.
func viewIntent(c core.Call, i *core.IntentRecord) *intentView {
	if i == nil || i.BegunAt.IsZero() {
		return nil
	}
	v := &intentView{Tool: i.Tool, BegunAt: i.BegunAt.UTC(), EndedAt: i.EndedAt.UTC()}
	if i.Result != nil {
		content := c.Mask(i.Result.Content)
		v.Result, v.Category = &content, i.Result.Category
	}
	return v
}

// result is what the tool returned, or its typed error.
func (v *intentView) result() string {
	if v == nil || v.Result == nil {
		return ""
	}
	return *v.Result
}

type postView struct {
	Seq          int64               `json:"seq"`
	Key          string              `json:"key"`
	Kind         core.PostKind       `json:"kind"`
	State        core.RowState       `json:"state"`
	Conversation core.ConversationID `json:"conversation"`
	Event        int64               `json:"event,omitempty"`
	Text         string              `json:"text,omitempty"`
	Attempts     int                 `json:"attempts"`
	Cause        string              `json:"cause,omitempty"`
	CreatedAt    time.Time           `json:"created_at"`
	SentAt       time.Time           `json:"sent_at,omitzero"`
}

func viewPost(r core.OutboxRow) postView {
	return postView{
		r.Seq, r.Key, r.Kind, r.State, r.Conversation, r.Event, mask.Text(r.Text), r.Attempts, mask.Text(r.Cause),
		r.CreatedAt.UTC(), r.SentAt.UTC(),
	}
}

type auditView struct {
	Seq      int64           `json:"seq"`
	At       time.Time       `json:"at"`
	Approval core.ApprovalID `json:"approval"`
	Action   string          `json:"action"`
	Actor    string          `json:"actor"`
	Detail   string          `json:"detail,omitempty"`
	Reason   string          `json:"reason,omitempty"` // secrets masked
	Digest   string          `json:"reason_digest,omitempty"`
	Session  core.SessionID  `json:"session,omitempty"`
	Key      string          `json:"key"`
	Prev     string          `json:"prev"`
	Hash     string          `json:"hash"`
}

func viewAudit(e audit.Entry) auditView {
	return auditView{
		e.Seq, e.At.UTC(), e.Approval, e.Action, e.Actor, e.Detail, mask.Text(e.Reason), e.ReasonDigest, e.Session,
		e.Key, e.Prev, e.Hash,
	}
}

// masker returns a function that hides the secrets of a message. The approvals are those of its session: they tell
// which arguments of their calls the tools' schemas said are secret. Of other calls, schema tells it, by the tools that
// the agent has now.
func masker(all []core.Approval, schema func(core.ToolCall) []string) func(core.Message) core.Message {
	secret := map[string][]string{} // by the digest of the call
	for _, a := range all {
		secret[a.Call.Digest] = a.Call.Secret
	}
	return func(m core.Message) core.Message {
		return masked(m, func(c core.ToolCall) []string {
			digest, _ := tool.Digest(c.Name, c.Arguments) // of malformed arguments "": they have no approval
			return slices.Concat(secret[digest], schema(c))
		})
	}
}

func masked(m core.Message, secret func(core.ToolCall) []string) core.Message {
	calls := m.ToolCalls
	m.ToolCalls = nil
	for _, c := range calls {
		c.Arguments = mask.JSON(c.Arguments, secret(c)...)
		m.ToolCalls = append(m.ToolCalls, c)
	}
	if !m.Content.IsList() {
		m.Content = core.Text(mask.Text(m.Content.String()))
		return m
	}
	blocks := m.Content.Blocks()
	for i := range blocks {
		blocks[i].Text = mask.Text(blocks[i].Text)
	}
	m.Content = core.Blocks(blocks...)
	return m
}

// nameOf is a person's name, or the id where the name is not known.
func nameOf(a core.Actor) string { return cmp.Or(a.Name, a.ID) }
