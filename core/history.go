package core

import (
	"context"
	"encoding/json"
)

// History is a conversation's append-only persistent list of messages. A copy is cheap, and appending to one changes no other. The stored
// part is read only on demand, newest first, so that a turn's cost does not depend on the length of the conversation; the added part is
// not stored yet. The zero History is empty.
type History struct {
	source HistorySource
	stored int
	added  []Message
	epoch  Epoch
}

// HistorySource reads stored messages: those before the newest skip ones, at most n of them, in their order. It reads a number of
// rows that depends on skip and n alone.
type HistorySource func(ctx context.Context, skip, n int) ([]Message, error)

// NewHistory makes a history of stored messages, which source reads.
func NewHistory(stored int, source HistorySource) History {
	return History{source: source, stored: stored}
}

// Len is how many messages there are.
func (h History) Len() int { return h.stored + len(h.added) }

// Stored is how many of them the store holds already.
func (h History) Stored() int { return h.stored }

// Added gives those that the store does not hold yet, in order. The caller must not change them.
func (h History) Added() []Message { return h.added[:len(h.added):len(h.added)] }

// Epoch is how the history was shown to its model last.
func (h History) Epoch() Epoch { return h.epoch }

// WithEpoch gives the history with another epoch; h stays as it was.
func (h History) WithEpoch(e Epoch) History {
	h.epoch = e
	return h
}

// Append gives a history with msgs at its end; h stays as it was.
func (h History) Append(msgs ...Message) History {
	h.added = append(h.added[:len(h.added):len(h.added)], msgs...)
	return h
}

// Save gives the same history once the first n of the added messages are stored.
func (h History) Save(n int) History {
	before := h
	before.added = h.added[:n:n]
	h.source, h.stored, h.added = before.Page, before.Len(), h.added[n:]
	return h
}

// Tail gives the last n messages, or all if there are fewer.
func (h History) Tail(ctx context.Context, n int) ([]Message, error) {
	return h.Page(ctx, 0, n)
}

// From gives the messages from index i on.
func (h History) From(ctx context.Context, i int) ([]Message, error) {
	return h.Page(ctx, 0, max(0, h.Len()-i))
}

// Page gives at most n messages before the newest skip ones, to read a history backwards.
func (h History) Page(ctx context.Context, skip, n int) ([]Message, error) {
	end := max(0, len(h.added)-skip)
	start := max(0, end-n)
	page := append([]Message(nil), h.added[start:end]...)
	missing := n - len(page)
	if missing <= 0 || h.stored == 0 || skip >= h.Len() {
		return page, nil
	}
	older, err := h.source(ctx, max(0, skip-len(h.added)), missing)
	if err != nil {
		return nil, err
	}
	return append(older, page...), nil
}

// MarshalJSON writes the whole list. It reads what is stored, so it is for histories of sessionless invocations and for exports.
func (h History) MarshalJSON() ([]byte, error) {
	all, err := h.From(context.Background(), 0)
	if err != nil {
		return nil, err
	}
	if all == nil {
		all = []Message{}
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads a list of messages; all of them count as added.
func (h *History) UnmarshalJSON(data []byte) error {
	*h = History{}
	return json.Unmarshal(data, &h.added)
}
