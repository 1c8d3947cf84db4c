package main

import (
	"context"
	"fmt"
	"sync"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// entry is something that happened: a call of a store, or the run of a node's body.
type entry struct {
	what     string // load, save, explicit save, delete, list, pause, paused, by signal, consume, node, inner node, middleware
	node     string
	messages int // of a node: how many messages it returned
}

// journal is all that happened in a case, in order.
type journal struct {
	mu      sync.Mutex
	entries []entry
}

func (j *journal) add(e entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
}

func (j *journal) len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}

func (j *journal) from(i int) []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]entry(nil), j.entries[i:]...)
}

// spy is the case's store: a real one in memory, whose calls are written down and may be made to fail.
type spy struct {
	mem     *graph.Memory
	journal *journal
	faults  map[string]core.Category // load, save
}

var (
	_ core.SessionStore = (*spy)(nil)
	_ core.PauseStore   = (*spy)(nil)
)

func (s *spy) call(what string) error {
	s.journal.add(entry{what: what})
	if what == "explicit save" {
		what = "save"
	}
	if c, ok := s.faults[what]; ok {
		return core.Errorf(c, "the fixture makes every %s fail", what)
	}
	return nil
}

func (s *spy) Load(ctx context.Context, id core.SessionID) (*core.SessionRecord, error) {
	if err := s.call("load"); err != nil {
		return nil, err
	}
	return s.mem.Load(ctx, id)
}

func (s *spy) Save(ctx context.Context, rec *core.SessionRecord, opts core.SaveOptions) error {
	what := "save"
	if opts.Explicit {
		what = "explicit save"
	}
	if err := s.call(what); err != nil {
		return err
	}
	return s.mem.Save(ctx, rec, opts)
}

func (s *spy) Delete(ctx context.Context, id core.SessionID) error {
	if err := s.call("delete"); err != nil {
		return err
	}
	return s.mem.Delete(ctx, id)
}

func (s *spy) List(ctx context.Context, f core.SessionFilter) ([]core.SessionSummary, error) {
	if err := s.call("list"); err != nil {
		return nil, err
	}
	return s.mem.List(ctx, f)
}

func (s *spy) Pause(ctx context.Context, rec *core.PausedRecord, session *core.SessionRecord) error {
	s.journal.add(entry{what: "pause"})
	if session != nil {
		if err := s.call("save"); err != nil {
			return err
		}
	}
	return s.mem.Pause(ctx, rec, session)
}

func (s *spy) Paused(ctx context.Context, id core.InvocationID) (*core.PausedRecord, error) {
	s.journal.add(entry{what: "paused"})
	return s.mem.Paused(ctx, id)
}

func (s *spy) BySignal(ctx context.Context, id core.SignalID) (*core.PausedRecord, error) {
	s.journal.add(entry{what: "by signal"})
	return s.mem.BySignal(ctx, id)
}

func (s *spy) Consume(ctx context.Context, id core.InvocationID) (bool, error) {
	s.journal.add(entry{what: "consume"})
	return s.mem.Consume(ctx, id)
}

// stored is what the store holds of a session now, as plain values; nil where it holds none.
type stored struct {
	State    map[string]any
	Version  string
	Messages []core.Message
}

// look reads past the journal.
func (s *spy) look(ctx context.Context, id core.SessionID) *stored {
	rec, err := s.mem.Load(ctx, id)
	if err != nil || rec == nil {
		return nil
	}
	out := &stored{State: map[string]any{}, Version: rec.SchemaVersion}
	for k, v := range rec.State {
		out.State[k] = plain(v)
	}
	if rec.Messages != nil {
		out.Messages, err = rec.Messages.From(ctx, 0)
		if err != nil {
			panic(fmt.Sprintf("the memory store failed: %v", err))
		}
		out.State[graph.Messages.Name()] = plain(append([]core.Message{}, out.Messages...))
	}
	return out
}
