package tool

import (
	"context"
	"encoding/json"

	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/core/typestate"
)

// Rounds is what a mutating call has that may take several messages to its end, such as an MCP server's question or
// task: all of them run under the call's one intent, with the same arguments. What Keep stored last is what the next
// attempt finds as Before, in whichever process. Where nothing is kept, an attempt that was cut off leaves an unknown
// outcome: so Do keeps "" before a message that must not be sent twice.
type Rounds struct {
	Before string          // "": the call begins
	Answer *Answer         // to the question of Before; nil: nobody was asked yet
	Stop   context.Context // ends when a person stops the turn
	// ends when the process stops, or has lost the turn: Do returns a Paused without a question
	Process context.Context

	running context.Context // of the call
	ledger  core.Ledger
	id      core.ApprovalID
}

// Keep commits how far the call is.
func (r *Rounds) Keep(progress string) error { return r.ledger.Keep(r.running, r.id, progress, false) }

// Answer is what became of a question that a call asked people by a Paused.
type Answer struct {
	// the digest of what was kept when it was asked; an answer to an earlier question is none to this one
	Of      string
	State   core.ApprovalState // answered, expired, cancelled; denied: nobody may be asked
	Content json.RawMessage    // of one that was answered
}

// Paused is the error of a Do that goes on later. It holds a question to people, before whose answer it does not go on,
// and what Rounds will have as Before, which is not empty. Without a question gatehouse stops, and what was kept last
// stays.
type Paused struct {
	Question *question.Question
	Progress string
}

// Error is for a log.
func (p *Paused) Error() string { return "the call goes on later" }

// Kept is the digest of its progress; see Answer.
func (p *Paused) Kept() string { return typestate.Digest(p.Progress) }

type roundsKey struct{}

// RoundsOf gives the rounds of the call that a Do runs; nil if it only reads: then nothing can be kept, and nobody be
// asked.
func RoundsOf(ctx context.Context) *Rounds {
	r, _ := ctx.Value(roundsKey{}).(*Rounds)
	return r
}

type answerKey struct{}

// WithAnswer gives Act what became of the question that its call asked people.
func WithAnswer(ctx context.Context, a Answer) context.Context {
	return context.WithValue(ctx, answerKey{}, &a)
}

// withRounds gives a Do the rounds of its call.
func withRounds(ctx context.Context, turn core.Turn, id core.ApprovalID, before string) context.Context {
	answer, _ := ctx.Value(answerKey{}).(*Answer)
	if answer != nil && answer.Of != typestate.Digest(before) {
		answer = nil
	}
	return context.WithValue(ctx, roundsKey{}, &Rounds{
		Before: before, Answer: answer, Stop: turn.Stop, Process: turn.Process,
		running: ctx, ledger: turn.Ledger, id: id,
	})
}
