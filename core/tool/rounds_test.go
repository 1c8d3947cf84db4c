package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/core/tool"
)

// keeping is a bench whose tool keeps "sent" before it says what it has.
func keeping(t *testing.T, do func(*tool.Rounds) (string, error)) *bench {
	b := newBench(t, core.Approved)
	b.pay(func(p *tool.Tool) {
		p.Do = func(ctx context.Context, _ string, _ json.RawMessage) (string, error) {
			b.runs++
			return do(tool.RoundsOf(ctx))
		}
	})
	turn, _ := core.TurnFrom(b.ctx)
	process, stop := context.WithCancel(context.Background())
	stop()
	turn.Process = process
	b.ctx = core.WithTurn(context.Background(), turn)
	return b
}

// An attempt that finds what was kept goes on, also if the rules have changed since; one that finds nothing reports an
// unknown outcome.
func TestLaw5_WhatWasKeptGoesOnAndNothingElse(t *testing.T) {
	b := keeping(t, func(r *tool.Rounds) (string, error) {
		if r.Before != "" {
			return "went on after " + r.Before, r.Keep("")
		}
		return "", errors.Join(r.Keep("task 1"), &tool.Paused{}) // gatehouse stops
	})
	if r, err := b.exec.Act(b.ctx, b.call, "a1", b.before); !errors.Is(err, core.ErrStopping) {
		t.Fatalf("%+v, %v", r, err)
	}
	a := b.approvals["a1"]
	a.Begun = true
	b.approvals["a1"], b.before.Policy = a, "other"
	r, err := b.exec.Act(b.ctx, b.call, "a1", b.before)
	if err != nil || r.Content != "went on after task 1" || b.runs != 2 {
		t.Errorf("%+v, %v, %d runs", r, err, b.runs)
	}
	rec := b.intents["a1"]
	rec.Result = nil // killed before it was stored, and after "" was kept
	b.intents["a1"] = rec
	if r, err = b.exec.Act(b.ctx, b.call, "a1", b.before); err != nil || r.Category != core.OutcomeUnknown ||
		b.runs != 2 {
		t.Errorf("%+v, %v, %d runs", r, err, b.runs)
	}
}

// An answer counts for the question that it was given to, and for no later one.
func TestLaw5_AnAnswerToAnEarlierQuestionIsNone(t *testing.T) {
	b := keeping(t, func(r *tool.Rounds) (string, error) {
		q, err := question.New("Sure?", nil)
		if r.Answer == nil {
			return "", errors.Join(err, &tool.Paused{Question: &q, Progress: r.Before + "1"})
		}
		return "answered after " + r.Before, nil
	})
	act := func(of string) (core.ToolResult, *tool.Paused) {
		t.Helper()
		r, err := b.exec.Act(tool.WithAnswer(b.ctx, tool.Answer{Of: of, State: core.Answered}), b.call, "a1", b.before)
		var p *tool.Paused
		if !errors.As(err, &p) && err != nil {
			t.Fatal(err)
		}
		return r, p
	}
	_, first := act("")
	_, second := act("of another")
	if first == nil || second == nil || b.intents["a1"].Progress != "11" {
		t.Fatalf("%+v, %+v, kept %q", first, second, b.intents["a1"].Progress)
	}
	if _, third := act(first.Kept()); third == nil {
		t.Error("the answer to the first question was taken for one to the second")
	}
	if r, _ := act((&tool.Paused{Progress: b.intents["a1"].Progress}).Kept()); !strings.HasPrefix(r.Content,
		"answered after 111") {
		t.Errorf("%+v", r)
	}
}

// A call that was begun, and whose tool is gone since, is not said to have done nothing: its outcome is unknown, or
// what was stored.
func TestLaw5_ABegunCallOfAToolThatIsGoneIsUnknown(t *testing.T) {
	b := keeping(t, func(r *tool.Rounds) (string, error) { return "", errors.Join(r.Keep("task 1"), &tool.Paused{}) })
	if _, err := b.exec.Act(b.ctx, b.call, "a1", b.before); !errors.Is(err, core.ErrStopping) {
		t.Fatal(err)
	}
	a := b.approvals["a1"]
	a.Begun = true
	b.approvals["a1"] = a
	b.exec.Tools = tool.NewRegistry()
	for range 2 {
		if r, err := b.exec.Act(b.ctx, b.call, "a1", b.before); err != nil || r.Category != core.OutcomeUnknown ||
			b.runs != 1 {
			t.Errorf("%+v, %v, %d runs", r, err, b.runs)
		}
	}
}

// A call that waits in a process which has lost the turn to another one ends there.
func TestACallWhoseTurnIsLostWaitsNoMore(t *testing.T) {
	var lose context.CancelFunc
	b := keeping(t, func(r *tool.Rounds) (string, error) {
		lose()
		select {
		case <-r.Process.Done():
		case <-time.After(time.Minute):
			t.Error("it is not told")
		}
		return "", &tool.Paused{}
	})
	turn, _ := core.TurnFrom(b.ctx)
	turn.Process = context.Background()
	b.ctx, lose = context.WithCancel(core.WithTurn(context.Background(), turn))
	defer lose()
	if r, err := b.exec.Act(b.ctx, b.call, "a1", b.before); !errors.Is(err, core.ErrStopping) {
		t.Errorf("%+v, %v", r, err)
	}
}
