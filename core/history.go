package core

import (
	"context"
	"encoding/json"
)

// History is a conversation's append-only persistent list of messages. A copy is cheap, and appending to one changes no
// other. The stored part is read only on demand, newest first, so that a turn's cost does not depend on the length of
// the conversation; the added part is not stored yet. The zero History is empty.
type History struct {
	source HistorySource
	stored int
	added  []Message
	epoch  Epoch
}

// HistorySource reads stored messages: those before the newest skip ones, at most n of them, in their order. It reads a
// number of rows that depends on skip and n alone.
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

// MarshalJSON writes the whole list. It reads what is stored, so it is for histories of sessionless invocations and for
// exports.
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

// Epoch is how a conversation was shown to its model last. Within an epoch what is shown only grows, byte for byte, so
// that a vendor knows what it was sent before, and what a model thought stays behind what it thought about. It is
// stored with the session and is no part of the spec's JSON. Rows are counted from the beginning of the history.
type Epoch struct {
	Number int    `json:"number"`           // from 1; 0 = nothing was shown yet
	Day    string `json:"day"`              // on which it began, as in 2026-12-13
	Began  int    `json:"began"`            // the row at which it began: thinking of earlier rows is not shown
	Origin string `json:"origin,omitempty"` // which model answered, at which endpoint, to which account (Kept.Origin)
	Prompt string `json:"prompt"`           // the digest of the system prompt
	Tools  string `json:"tools"`            // the digest of the list of tools

	From int   `json:"from,omitempty"` // the first row that is shown: what is before it was cut
	Also []int `json:"also,omitempty"` // rows before From with which exchanges begin that are shown all the same
	// days that began since, at the messages of people that are shown with them
	Days  []EpochDay `json:"days,omitempty"`
	Notes []int      `json:"notes,omitempty"` // rows before which a note stands, since nobody had asked anything there

	Rows   int    `json:"rows"`   // how many rows the last request was made from
	Shown  int    `json:"shown"`  // how many messages it had
	Digest string `json:"digest"` // of those messages
}

// EpochDay is the day of a row.
type EpochDay struct {
	Row int    `json:"row"`
	Day string `json:"day"` // as it is shown, with its zone
}
