package dispatch

import (
	"context"
	"sync"

	"gatehouse/core"
	"gatehouse/core/inflight"
)

// turnMemory is what any turn is taken to hold: its stack of 16 KiB, its contexts, the state of its graph and the
// connection to a model's server, rounded up from what 2,000 waiting turns were measured to take.
const turnMemory = 64 << 10

// copies is how often a turn that asks a model holds the text of its conversation: as it was read, as the model is
// shown it, and as it is sent.
const copies = 3

// ownCopies is how often a turn holds its own message at most: as it is stored and read, in the history, as arguments
// of a call with the trees that are parsed from them, and in a reply that repeats it.
const ownCopies = 8

// weight is what the turn of an event holds before it has read anything but its payload, which has so many bytes.
func weight(payload int64) int64 { return turnMemory + ownCopies*payload }

// size is how many bytes the payload of an event has that was read whole.
func size(e core.EventRecord) int64 { return int64(len(e.Payload)) }

// memory is what one turn is taken to hold: at first its weight, and more once it has read and added more than that.
type memory struct {
	hold   *inflight.Hold
	most   int64                   // what it may come to hold; 0: anything
	cut    context.CancelCauseFunc // the turn's, if it comes to hold more
	tooBig error                   // then the cause

	mu    sync.Mutex
	taken int64 // of the budget; guarded by mu, as what follows
	used  int64
	deep  int   // how many of the latest stored messages were read
	more  int64 // of the messages added
}

// begin counts the event's payload. The hold has its weight.
func (m *memory) begin(e core.EventRecord) {
	m.taken = weight(size(e))
	m.grow(turnMemory + size(e))
}

func (m *memory) grow(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.growLocked(bytes)
}

func (m *memory) growLocked(bytes int64) {
	m.used += bytes
	if m.used > m.taken {
		m.hold.Grow(m.used - m.taken)
		m.taken = m.used
	}
	if m.most > 0 && m.used > m.most {
		m.cut(m.tooBig)
	}
}

// added counts the messages that the turn has added until now.
func (m *memory) added(all []core.Message) {
	now := sizeOf(all)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.growLocked(copies * (now - m.more))
	m.more = now
}

// counted is a stored history that counts what is read of it, each message once.
func (m *memory) counted(h core.History) core.History {
	return core.NewHistory(h.Stored(), func(ctx context.Context, skip, n int) ([]core.Message, error) {
		page, err := h.Page(ctx, skip, n)
		m.mu.Lock()
		defer m.mu.Unlock()
		if known := m.deep - skip; known < len(page) { // the known ones are the latest, at the page's end
			m.growLocked(copies * sizeOf(page[:len(page)-max(0, known)]))
			m.deep = skip + len(page)
		}
		return page, err
	}).WithEpoch(h.Epoch())
}

// sizeOf is how many bytes of content messages have. An image that is stored counts as it is sent to a model.
func sizeOf(all []core.Message) (bytes int64) {
	for _, m := range all {
		for _, b := range m.Content.Blocks() {
			bytes += int64(len(b.Text) + len(b.Signature) + len(b.Data))
			if b.Source != nil {
				bytes += int64(len(b.Source.Base64Data)) + b.Source.Size*4/3
			}
		}
		for _, c := range m.ToolCalls {
			bytes += int64(len(c.Arguments))
		}
	}
	return bytes
}
