package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/chat"
)

// refusing is a store that refuses sessions and pauses, and records the other Finishes.
type refusing struct {
	Store
	with    error
	refused int
	kept    []core.Finish
}

func (r *refusing) Finish(_ context.Context, f core.Finish) error {
	if f.Session != nil || f.Paused != nil {
		r.refused++
		return r.with
	}
	r.kept = append(r.kept, f)
	return nil
}

func TestFailedSaveEndsTheTurnWithItsCategory(t *testing.T) {
	session := &core.SessionRecord{ID: "s"}
	for name, tc := range map[string]struct {
		finish   core.Finish
		category core.Category
	}{
		"an end": {core.Finish{
			End: core.End{Kind: core.EndReplied}, Changes: core.Changes{
				Session: session,
				Posts:   []core.Post{{Text: "done"}},
			},
		}, core.SessionSaveFailed},
		"a pause": {
			core.Finish{
				End:     core.End{Kind: core.EndSuspended},
				Changes: core.Changes{Session: session, Paused: &core.PausedRecord{}},
			},
			core.SuspensionPersistenceFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &refusing{with: errors.New("no")}
			o := Options{Store: r, Outbox: noOutbox{}, Harness: echo(t), Log: slog.New(slog.DiscardHandler)}
			o.defaults()
			claim := core.Claim{Event: core.EventRecord{Event: core.Event{Body: core.MessageEvent{}}}}
			newTurn(&Dispatcher{Options: o}, claim, nil).finish(t.Context(), &tc.finish)
			if r.refused != 1 || len(r.kept) != 1 {
				t.Fatalf("refused %d times, kept %+v", r.refused, r.kept)
			}
			f := r.kept[0]
			if f.End.Kind != core.EndErrored || f.End.Category != tc.category || len(f.Posts) != 1 ||
				f.Posts[0].Bucket != core.SessionTerminating {
				t.Errorf("it ended as %+v with %+v", f.End, f.Posts)
			}
		})
	}
}

func TestLostClaimStoresNothing(t *testing.T) {
	r := &refusing{with: core.Errorf(core.ClaimLost, "lost")}
	o := Options{Store: r, Outbox: noOutbox{}, Log: slog.New(slog.DiscardHandler)}
	o.defaults()
	newTurn(&Dispatcher{Options: o}, core.Claim{}, nil).finish(t.Context(),
		&core.Finish{
			End:     core.End{Kind: core.EndReplied},
			Changes: core.Changes{Session: &core.SessionRecord{}},
		})
	if r.refused != 1 || len(r.kept) != 0 {
		t.Errorf("refused %d times, kept %+v", r.refused, r.kept)
	}
}

func (r *refusing) TakeBack(context.Context, core.Claim) error { return nil }

// noOutbox delivers nothing.
type noOutbox struct{}

func (noOutbox) HandOver(string, int) (*core.Handover, func()) { return nil, func() {} }

func (noOutbox) Nudge() {}

func echo(t *testing.T) *chat.Harness {
	t.Helper()
	g, err := agent.Echo(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := chat.New(chat.Options{Graph: g})
	if err != nil {
		t.Fatal(err)
	}
	return h
}
