package discord

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"gatehouse/core"
)

// Numbers of how connections follow each other, and of tries to store.
const (
	firstRedial = time.Second
	maxRedial   = time.Minute
	maxRelive   = 4 * time.Second // the same after a connection whose session lived
	steady      = time.Minute     // a connection that lasted as long was a good one: the next is opened at once
	maxDials    = 2               // tries at the address where the session is resumed, before the general one is asked
	firstStore  = 100 * time.Millisecond
	maxStore    = 5 * time.Second
)

// hear keeps a connection of the shard open until ctx ends. Its error: going on is useless.
func (s *shard) hear(ctx context.Context) error {
	d := s.discord
	defer s.keep.last(ctx)
	trouble := core.NewErrorLog(d.Log, "connecting to Discord's gateway")
	redial := firstRedial
	if !s.load(ctx) {
		return nil
	}
	for ctx.Err() == nil {
		began := time.Now()
		p, err := s.connect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		trouble.Report(err)
		switch {
		case isFatal(err):
			d.ears.set(s.n, hearing{why: err})
			return err
		case p.fatal != nil:
			return p.fatal
		case err != nil:
			d.ears.set(s.n, hearing{why: err})
		default:
			d.Log.Info("a connection to Discord has ended; another is opened", "shard", s.n, "why", p.why)
		}
		if p.anew {
			s.keep.lost()
		}
		d.sleep(ctx, d.jitter(p.wait))
		if time.Since(began) < steady {
			longest := maxRedial
			if p.lived {
				longest = maxRelive
			}
			redial = min(redial, longest)
			d.sleep(ctx, d.jitter(redial)) // one that ends at once must not be followed at once
			redial = min(2*redial, longest)
		} else {
			redial = firstRedial
		}
	}
	return nil
}

// load reads the session that an earlier process left, as soon as the store can be read.
func (s *shard) load(ctx context.Context) bool {
	trouble := core.NewErrorLog(s.discord.Log, "reading the state of a session with Discord")
	for ctx.Err() == nil {
		err := s.keep.load(ctx, s.discord.whoami().User, s.of)
		if ctx.Err() != nil {
			break
		}
		trouble.Report(err)
		if err == nil {
			return true
		}
		s.discord.ears.set(s.n, hearing{why: err})
		s.discord.sleep(ctx, s.discord.jitter(firstRedial))
	}
	return false
}

// connect opens one connection and hears it to its end.
func (s *shard) connect(ctx context.Context) (parting, error) {
	from := s.keep.state()
	if s.regranted() {
		s.keep.lost()
		from = s.keep.state()
	}
	address := from.URL
	var err error
	switch {
	case from.ID == "":
		address, err = s.leave(ctx)
	case address == "" || s.dials >= maxDials:
		var g gateway
		g, err = s.discord.askGateway(ctx, nil)
		address = g.URL
	}
	if err != nil || ctx.Err() != nil {
		return parting{}, err
	}
	k, err := s.dial(ctx, address)
	if err != nil {
		s.dials++
		return parting{}, err
	}
	s.dials = 0
	if from.ID == "" {
		s.paid = false
	}
	return k.run(ctx, from), nil
}

// take takes an event up to its commit, as often as it needs; false: ctx has ended before.
func (s *shard) take(ctx context.Context, it item) bool {
	pause := firstStore
	for {
		if s.once(ctx, it) != unstored {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		s.discord.sleep(ctx, pause)
		pause = min(2*pause, maxStore)
	}
}

// once tries to take an event.
func (s *shard) once(ctx context.Context, it item) verdict {
	d := s.discord
	switch it.kind {
	case "READY":
		s.catchUp(ctx)
		return stored
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		return d.takeMessage(ctx, it.kind, it.data, s.accept)
	case "INTERACTION_CREATE":
		reply, v := d.takeInteraction(ctx, it.data, s.accept)
		if v == stored {
			d.respond(it.data, reply)
		}
		return v
	}
	if err := d.atlas.learn(it.kind, it.data); err != nil {
		d.Log.Warn("what Discord tells of its servers can't be read and is passed over", "kind", it.kind, "bytes", len(it.data), "err", shape(err))
	}
	return stored
}

// verdict is what became of something that Discord sent.
type verdict int

const (
	stored   verdict = iota // committed, or nothing that concerns the bot
	broken                  // not of the form it should have
	foreign                 // for another application
	unstored                // it could not be stored: it is tried again
)

// takeMessage takes a message, a change or a deletion up to its commit.
func (d *Discord) takeMessage(ctx context.Context, kind string, data []byte, accept core.Accept) verdict {
	events, err := d.eventsOf(ctx, kind, data)
	switch {
	case core.CategoryOf(err) == core.ProviderUnavailable:
		d.Log.Warn("a message waits until Discord tells where it stands", "err", err)
		return unstored
	case err != nil:
		d.Log.Warn("an event can't be read and is passed over", "kind", kind, "bytes", len(data), "err", shape(err))
		return broken
	}
	for _, ev := range events {
		if v := d.commit(ctx, ev, accept); v != stored {
			return v
		}
	}
	return stored
}

func (d *Discord) commit(ctx context.Context, ev core.Event, accept core.Accept) verdict {
	if _, err := accept(ctx, ev); err != nil {
		if core.BucketOf(core.CategoryOf(err)) == core.UserCorrectable {
			d.Log.Warn("an event is refused", "kind", ev.Kind(), "category", core.CategoryOf(err), "err", err)
			return broken
		}
		if ctx.Err() == nil {
			d.Log.Warn("an event could not be stored; it is tried again", "kind", ev.Kind(), "category", core.CategoryOf(err), "err", err)
		}
		return unstored
	}
	return stored
}

// shape tells what is wrong with a JSON text without repeating any of it.
func shape(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return "no valid JSON"
	case errors.As(err, &kind):
		return "the field " + kind.Field + " is not of the type it should have"
	}
	return "not of the form it should have"
}

// clip keeps foreign words short enough for a log.
func clip(s string) string { return s[:min(len(s), 40)] }
