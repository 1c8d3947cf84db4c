package dispatch

import (
	"context"
	"sync"

	"gatehouse/core"
)

// memory is what one turn is taken to hold beside turnMemory: its payload and, several times, the messages that it has
// read and added.
type memory struct {
	slots *slots

	mu   sync.Mutex
	held int64 // guarded by mu, as what follows
	deep int   // how many of the latest stored messages were read
	more int64 // of the messages added
}

func (m *memory) begin(p *slots, e core.EventRecord) {
	m.slots = p
	m.grow(int64(len(e.Payload)))
}

// end gives everything back.
func (m *memory) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slots.grow(-m.held)
	m.held = 0
}

func (m *memory) grow(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.growLocked(bytes)
}

func (m *memory) growLocked(bytes int64) {
	m.held += bytes
	m.slots.grow(bytes)
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
