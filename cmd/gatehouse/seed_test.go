package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	_ "github.com/mattn/go-sqlite3" // for tamper, which bypasses the store

	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

const seedConversation = core.ConversationID("console:demo")

// seeder stores turns as core/dispatch does.
type seeder struct {
	ctx   context.Context
	store *storage.Store
	owner string
	scope []core.Scope

	conversation core.ConversationID // of said; "": seedConversation
}

func newSeeder(ctx context.Context, store *storage.Store) *seeder {
	return &seeder{ctx: ctx, store: store, owner: "seed", scope: []core.Scope{{Platform: "console"}}}
}

// seed fills a database: turn 1 is answered, turn 2 is a dead letter, turn 3 waits for the approval ap-1, turn 4 is
// queued.
func seed(file string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := storage.Open(ctx, "sqlite:"+file, storage.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	s := newSeeder(ctx, store)
	if s.owner, err = store.Register(ctx, "seed", 0); err != nil {
		return err
	}
	for _, step := range []func() error{s.answered, s.dead, s.suspended} {
		if err := step(); err != nil {
			return err
		}
	}
	if _, err = store.Accept(ctx, s.event("e4", "still there?")); err != nil {
		return err
	}
	return s.forbidden()
}

// forbidden records a failed delivery of the first post, which is retried in an hour.
func (s *seeder) forbidden() error {
	rows, err := s.store.ClaimPosts(s.ctx, core.PostRequest{Owner: s.owner, Limit: 1, Scopes: s.scope})
	if err != nil || len(rows) != 1 {
		return fmt.Errorf("%d posts: %w", len(rows), err)
	}
	rows[0].Attempts, rows[0].Cause = 1,
		core.Errorf(core.DeliveryForbidden, "The bot may not write here. Let it.").Error()
	_, err = s.store.ReleasePost(s.ctx, rows[0], time.Hour)
	return err
}

func (s *seeder) event(id, text string) core.Event {
	payload, _ := json.Marshal(map[string]string{"text": text})
	return core.Event{
		Platform: "console", ID: id, Conversation: seedConversation, Body: core.MessageEvent{},
		Actor:   core.Actor{ID: "console:ann", Name: "Ann\x1b[31m", Local: true},
		Address: core.Address{Platform: "console", Channel: "demo"}, Payload: payload,
	}
}

// turn accepts a message, claims it and finishes it with the result of end.
func (s *seeder) turn(id, text string, end func(core.Claim) core.Finish) error {
	if _, err := s.store.Accept(s.ctx, s.event(id, text)); err != nil {
		return err
	}
	claims, err := s.store.Claim(s.ctx, core.ClaimRequest{Owner: s.owner, Limit: 1, Scopes: s.scope})
	if err != nil {
		return err
	}
	if len(claims) != 1 {
		return fmt.Errorf("%d claims, want 1", len(claims))
	}
	f := end(claims[0])
	f.Claim = claims[0]
	return s.store.Finish(s.ctx, f)
}

func (s *seeder) session(c core.Claim, msgs ...core.Message) *core.SessionRecord {
	rec, err := s.store.LoadSession(s.ctx, c.Session, core.Writer{Invocation: c.Event.Invocation})
	if rec == nil || err != nil {
		rec = &core.SessionRecord{
			ID: c.Session, SchemaVersion: "1", State: map[string]json.RawMessage{}, Messages: &core.History{},
		}
	}
	h := rec.Messages.Append(msgs...)
	rec.Messages, rec.Writer = &h, core.Writer{Invocation: c.Event.Invocation}
	return rec
}

func (s *seeder) answered() error {
	return s.turn("e1", "hello", func(c core.Claim) core.Finish {
		return core.Finish{
			End: core.End{Kind: core.EndReplied}, Changes: core.Changes{
				Session: s.session(c, core.Message{Role: core.User, Content: core.Text("hello")},
					core.Message{
						Role: core.Assistant, Content: core.Text("hi\x1b[2J there\nmy key is " +
							"sk-0123456789abcdef0123456789abcdef"),
					}),
				Posts: []core.Post{{
					Key: "reply/1", To: c.Event.Address, Conversation: seedConversation, Kind: core.PostReply,
					Text: "hi there", Event: c.Event.Seq,
				}},
			},
		}
	})
}

func (s *seeder) dead() error {
	return s.turn("e2", "boom", func(core.Claim) core.Finish {
		return core.Finish{End: core.End{Kind: core.EndDead, Category: core.Internal, Cause: "five deaths"}}
	})
}

const seedArguments = `{"text":"milk","password":"hunter2"}`

var seedDigest, _ = noteDigest(seedArguments) // valid JSON

func noteDigest(arguments string) (string, error) {
	return tool.Digest("note.add", json.RawMessage(arguments))
}

func (s *seeder) suspended() error { return s.asks("e3", "ap-1", nil) }

// asks accepts an event whose turn waits for an approval, or for the answer to a question.
func (s *seeder) asks(event string, id core.ApprovalID, asked *question.Question) error {
	return s.turn(event, "note it", func(c core.Claim) core.Finish {
		call := core.ToolCall{ID: "c1", Name: "note.add", Arguments: json.RawMessage(seedArguments)}
		a := core.Approval{
			ID: id, Invocation: c.Event.Invocation, Session: c.Session, Conversation: seedConversation,
			Address: c.Event.Address, State: core.Open, Question: asked,
			Call: core.Call{
				Tool: call.Name, CallID: call.ID, Arguments: call.Arguments, Digest: seedDigest,
				Summary: "Add \u202emilk\x07",
			},
			Requester: c.Event.Actor,
			Rule: core.Rule{
				Name: "local person", Verdict: core.VerdictAsk, Approvers: []string{core.LocalPerson}, Self: true,
			},
		}
		return core.Finish{
			End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
				Session: s.session(c, core.Message{Role: core.User, Content: core.Text("note it")},
					core.Message{Role: core.Assistant, ToolCalls: []core.ToolCall{call}}),
				Paused: &core.PausedRecord{
					Invocation: c.Event.Invocation, Session: c.Session,
					Descriptor: core.Descriptor{SignalID: core.SignalID(id)},
					Graph:      "demo", GraphVersion: "1",
					SchemaVersion: "1", Type: "suspended",
					Frames: []core.Frame{{Node: "gate", State: map[string]json.RawMessage{}}}, MarkCompleted: true,
					Messages: 2,
				},
				Approval: &a,
				Posts: []core.Post{{
					Key: a.CardKey(), To: c.Event.Address, Conversation: seedConversation, Kind: core.PostCard,
					Approval: a.ID, Event: c.Event.Seq,
				}},
			},
		}
	})
}

// undeliver turns the posts of seed into dead letters, with a clock two hours ahead: post 1 was refused, post 2 may not
// have arrived.
func undeliver(file string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	store, err := storage.Open(ctx, "sqlite:"+file, storage.Options{Now: func() time.Time {
		return time.Now().Add(2 * time.Hour)
	}})
	if err != nil {
		return err
	}
	defer store.Close()
	return newSeeder(ctx, store).undelivered()
}

// undelivered turns the next two posts into dead letters: one was refused, the other may not have arrived.
func (s *seeder) undelivered() error {
	for _, end := range []struct {
		state core.RowState
		cause string
		parts []core.Part
	}{{core.RowDead, "no such channel", nil}, {core.RowUnknown, "the answer was lost", []core.Part{{InDoubt: true}}}} {
		rows, err := s.store.ClaimPosts(s.ctx, core.PostRequest{Owner: s.owner, Limit: 1, Scopes: s.scope})
		if err != nil {
			return err
		}
		if len(rows) != 1 {
			return fmt.Errorf("%d posts, want 1", len(rows))
		}
		row := rows[0]
		row.State, row.Cause, row.Parts = end.state, end.cause, end.parts
		if _, err := s.store.ReleasePost(s.ctx, row, 0); err != nil {
			return err
		}
	}
	return nil
}

// tamper changes the first entry of the audit log.
func tamper(file string) error {
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(`update audit set detail = 'nothing happened' where seq = 1`)
	return err
}
