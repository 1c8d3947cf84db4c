package inbound

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Result is the outcome of an event or request that a platform sent.
type Result int

// The results. Only NotStored must not be acknowledged.
const (
	Stored    Result = iota // committed, or of no concern to the bot
	Malformed               // unreadable, or refused by core: another attempt changes nothing
	Foreign                 // for another workspace or application
	NotStored               // the store could not take it now: it must be sent or tried again
)

// Commit stores an event with accept. It logs a failure; for an event that was not stored, the log line ends with
// retry, which is what happens next.
func Commit(ctx context.Context, log *slog.Logger, ev core.Event, accept core.Accept, retry string) Result {
	_, err := accept(ctx, ev)
	switch {
	case err == nil:
		return Stored
	case core.BucketOf(core.CategoryOf(err)) == core.UserCorrectable:
		log.Warn("an event is refused", "kind", ev.Kind(), "category", core.CategoryOf(err), "err", err)
		return Malformed
	case ctx.Err() == nil:
		log.Warn("an event could not be stored; "+retry, "kind", ev.Kind(), "category", core.CategoryOf(err),
			"err", err)
	}
	return NotStored
}

// JSONFault describes what is wrong with JSON, without repeating any of its content.
func JSONFault(err error) string {
	var strict *strictjson.Error
	var repeated *repeatedKey
	var kind *wrongType
	switch {
	case errors.As(err, &strict):
		return "invalid JSON"
	case errors.As(err, &repeated):
		return repeated.Error()
	case errors.As(err, &kind) && kind.fields != nil:
		return kind.Error()
	}
	return "the wrong form"
}

// Unreadable logs a request that can't be read.
func Unreadable(log *slog.Logger, kind string, body []byte, err error) Result {
	log.Warn("a request can't be read and is refused", "kind", kind, "bytes", len(body), "err", JSONFault(err))
	return Malformed
}

// Control parses a message that is a control word after an exclamation mark, such as !stop; slash commands don't work
// in threads. It returns nil for any other message.
func Control(text string) core.EventBody {
	word, ok := strings.CutPrefix(strings.TrimSpace(text), "!")
	if !ok {
		return nil
	}
	return core.ParseControl(word)
}
