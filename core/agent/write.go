package agent

import (
	"context"
	"strings"
	"time"

	"gatehouse/core"
)

// How an agent that has no model writes, for whoever looks: word by word, as a model would.
const (
	wordTime = 25 * time.Millisecond
	mostTime = 600 * time.Millisecond // of a whole answer
)

// write tells an answer that is there at once in pieces. Where nobody looks it takes no time. The error is the cause of
// a context that ends meanwhile.
func write(ctx context.Context, m core.Message) error {
	deltas := core.DeltasFrom(ctx)
	if !deltas.Watched() {
		return nil
	}
	words := strings.SplitAfter(m.Content.String(), " ")
	each := min(wordTime, mostTime/time.Duration(len(words)))
	for _, word := range words {
		deltas.Piece(word)
		if err := pause(ctx, each); err != nil {
			return err
		}
	}
	return nil
}
