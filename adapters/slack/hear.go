package slack

import (
	"context"
	"encoding/json"
	"errors"

	"gatehouse/core"
)

// verdict is what became of something that Slack sent.
type verdict int

const (
	stored   verdict = iota // committed, or nothing that concerns the bot: acknowledge
	foreign                 // of another workspace: refuse
	broken                  // not of the form it should have: refuse
	unstored                // it could not be stored: do not acknowledge, Slack sends again
)

// answer is what Slack gets back with an acknowledgement; nil: nothing.
type answer = map[string]any

// kinds of what Slack sends.
const (
	kindEvents      = "events_api"
	kindInteractive = "interactive"
	kindCommand     = "slash_commands"
)

// take takes one body of any kind, whichever way it came, up to its commit.
func (s *Slack) take(ctx context.Context, kind string, body []byte, accept core.Accept) (answer, verdict) {
	switch kind {
	case kindEvents:
		return nil, s.takeEvent(ctx, body, accept)
	case kindInteractive:
		return s.takeInteraction(ctx, body, accept)
	case kindCommand:
		return s.takeCommand(ctx, body, accept)
	}
	s.Log.Debug("something of an unknown kind came and is passed over", "kind", kind)
	return nil, stored
}

func (s *Slack) takeEvent(ctx context.Context, body []byte, accept core.Accept) verdict {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		s.Log.Warn("an event can't be read and is refused", "bytes", len(body), "err", shape(err))
		return broken
	}
	switch e.Type {
	case "event_callback":
	case "app_rate_limited":
		s.Log.Warn("Slack withholds events: there were more than it gives one app in an hour")
		return stored
	default:
		return stored
	}
	p, ok := s.where(e)
	if !ok {
		s.Log.Warn("an event of another workspace is refused", "team", clip(e.TeamID))
		return foreign
	}
	ev, ok, err := s.eventOf(ctx, p, e, body)
	if err != nil {
		s.Log.Warn("an event can't be read and is refused", "bytes", len(body), "err", shape(err))
		return broken
	}
	if !ok {
		return stored
	}
	return s.commit(ctx, ev, accept)
}

func (s *Slack) commit(ctx context.Context, ev core.Event, accept core.Accept) verdict {
	if _, err := accept(ctx, ev); err != nil {
		if core.BucketOf(core.CategoryOf(err)) == core.UserCorrectable {
			s.Log.Warn("an event is refused", "kind", ev.Kind(), "category", core.CategoryOf(err), "err", err)
			return broken
		}
		s.Log.Warn("an event could not be stored; Slack is not told that it was", "kind", ev.Kind(), "category", core.CategoryOf(err), "err", err)
		return unstored
	}
	return stored
}

// shape tells what is wrong with a JSON text without repeating any of it.
func shape(err error) string {
	var broken *json.SyntaxError
	var other *json.UnmarshalTypeError
	switch {
	case errors.As(err, &broken):
		return "no valid JSON"
	case errors.As(err, &other):
		return "the field " + other.Field + " is not of the type it should have"
	}
	return "not of the form it should have"
}

// clip keeps foreign words short enough for a log.
func clip(s string) string { return s[:min(len(s), 40)] }
