package inbound

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"gatehouse/core"
)

// NoEvents is the Inbox where there is no store.
type NoEvents struct{}

// Events lists none.
func (NoEvents) Events(context.Context, core.EventFilter) ([]core.EventRecord, error) {
	return nil, nil
}

// before lists at most n of the events of a conversation before one of it.
func before(
	ctx context.Context, inbox core.Inbox, e core.Event, f core.EventFilter, n int,
) ([]core.EventRecord, error) {
	f.Platform, f.Conversation, f.Before, f.Limit = e.Platform, e.Conversation, e.ID, n
	return inbox.Events(ctx, f)
}

// mostHeard is how many events are looked through. Those of a button do not tell where in the conversation they were.
const mostHeard = 50

// LastHeard returns the latest event before e that the agent knows, a message that was answered or a reset, and that
// found accepts; nil: the conversation begins with e. Error: the store's.
func LastHeard(
	ctx context.Context, inbox core.Inbox, e core.Event, found func(core.EventRecord) bool,
) (*core.EventRecord, error) {
	answered := core.EventFilter{
		Kinds: []core.Kind{core.KindMessage, core.KindReset},
		Ends:  []core.EndKind{core.EndReplied, core.EndSuspended, core.EndNothing, core.EndApplied},
	}
	for _, most := range []int{1, mostHeard} { // mostly one tells
		all, err := before(ctx, inbox, e, answered, most)
		if n := slices.IndexFunc(all, found); err == nil && n >= 0 {
			return &all[n], nil
		}
		if err != nil || len(all) < most {
			return nil, err
		}
	}
	return nil, nil
}

// IDs are the ids that a setting lists, with commas between them.
func IDs(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

// maxBotTurns is how many turns of bots may follow each other in a conversation without a person: two bots could answer
// each other forever.
const maxBotTurns = 3

// OnlyBots reports whether a bot wrote the message e and may not be answered: maxBotTurns turns before it were bots'
// too, so a person has to write first. Error: the store's.
func OnlyBots(
	ctx context.Context, inbox core.Inbox, e core.Event, isBot func(core.Actor) bool,
) (bool, error) {
	if !isBot(e.Actor) {
		return false, nil
	}
	all, err := before(ctx, inbox, e, core.EventFilter{Kinds: []core.Kind{core.KindMessage}}, mostHeard)
	turns := 0
	for _, earlier := range all {
		if !isBot(earlier.Actor) {
			break
		}
		switch earlier.End.Kind {
		case core.EndIgnored, core.EndWithdrawn, core.EndRefused:
		default:
			turns++
		}
	}
	return turns >= maxBotTurns, err
}

// TooManyBots is the recorded cause of a message of a bot that is not answered; see OnlyBots.
const TooManyBots = "three turns of bots followed each other; a person has to write before a bot is answered again"
