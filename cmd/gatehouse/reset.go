package main

import (
	"context"
	"strings"

	"gatehouse/core"
)

type sessionsResetCmd struct {
	asJSON
	ID string `arg:"" help:"A session or a lane."`
}

// localAdmin is whoever runs the command line.
var localAdmin = core.Actor{ID: "local-admin", Name: "local-admin"}

// Run accepts the event "new conversation". It takes its place among the lane's messages, like one from the platform itself.
func (c sessionsResetCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		lane, to, err := findLane(ctx, store, c.ID)
		if err != nil {
			return err
		}
		r, err := store.Accept(ctx, core.Event{
			Platform: to.Platform, ID: "cli/" + newID(), Lane: lane, Kind: core.KindReset, Actor: localAdmin, Address: to,
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(map[string]any{"lane": lane, "seq": r.Seq})
		}
		a.say("The conversation %s starts afresh with turn %d, once a running gatehouse has taken it.", lane, r.Seq)
		return nil
	})
}

// findLane gives the lane of a session or lane, and where it is answered: where its last event was.
func findLane(ctx context.Context, store core.Store, id string) (core.Lane, core.Address, error) {
	for _, lane := range []core.Lane{core.Lane(id), core.SessionID(id).Lane()} {
		last, err := store.Events(ctx, core.EventFilter{Lane: lane, Limit: 1})
		if err != nil {
			return "", core.Address{}, err
		}
		if len(last) > 0 {
			return lane, last[0].Address, nil
		}
	}
	rec, err := findSession(ctx, store, id) // its events may be pruned
	if err != nil {
		return "", core.Address{}, err
	}
	lane := rec.ID.Lane()
	platform, place, _ := strings.Cut(string(lane), ":")
	return lane, core.Address{Platform: platform, Channel: place}, nil
}
