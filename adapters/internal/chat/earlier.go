package chat

import (
	"context"
	"slices"

	"gatehouse/core"
)

// Events lists events, the latest first; it is core.Deps.Events.
type Events func(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error)

// Heard says which events of a conversation the agent knows, before e: messages that were answered, and resets. It returns the latest
// that found accepts; nil if there is none, so that the conversation begins with e. Error: the store's.
func (events Events) Heard(ctx context.Context, e core.Event, found func(core.EventRecord) bool) (*core.EventRecord, error) {
	all, err := events(ctx, core.EventFilter{
		Platform: e.Platform, Conversation: e.Conversation, Before: e.ID, Kinds: []core.Kind{core.KindMessage, core.KindReset},
		Ends: []core.EndKind{core.EndReplied, core.EndSuspended, core.EndNothing, core.EndApplied}, Limit: mostHeard,
	})
	if n := slices.IndexFunc(all, found); err == nil && n >= 0 {
		return &all[n], nil
	}
	return nil, err
}

// mostHeard is how many events are looked through. Those of a button say nothing of where in the conversation they were.
const mostHeard = 50

// maxBotTurns is how many turns of bots may follow each other in a conversation without a person: two bots could answer each other forever.
const maxBotTurns = 3

// OnlyBots reports whether so many turns before e, which a bot wrote, were bots' that a person has to write first.
func (events Events) OnlyBots(ctx context.Context, e core.Event, isBot func(actor string) bool) (bool, error) {
	all, err := events(ctx, core.EventFilter{
		Platform: e.Platform, Conversation: e.Conversation, Before: e.ID, Kinds: []core.Kind{core.KindMessage}, Limit: mostHeard,
	})
	turns := 0
	for _, earlier := range all {
		switch {
		case !isBot(earlier.Actor.ID):
			return false, err
		case earlier.End.Kind != core.EndIgnored && earlier.End.Kind != core.EndWithdrawn && earlier.End.Kind != core.EndRefused:
			if turns++; turns == maxBotTurns {
				return true, err
			}
		}
	}
	return false, err
}

// TooManyBots is the recorded cause of a message of a bot that is not answered; see OnlyBots.
const TooManyBots = "three turns of bots followed each other; a person has to write before a bot is answered again"
