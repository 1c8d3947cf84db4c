// Package inflight is the one budget of a process for bytes in flight: all that it holds because somebody outside sent
// it. Bodies are taken from it before they are read, the trees that are parsed from them before they are parsed, turns
// before they begin. What does not fit is refused at once; nothing waits in line here.
//
// The bytes are estimates: who takes some says how many times its input the work on it holds. What the kernel, the
// database and a model's connection hold is no part of them, so a budget is half of the memory that there is.
//
//	Kept       a tenth: for what its sender does not repeat, and for small requests
//	Strangers  a quarter, and half of that for one address: who sends is not known yet
//	People     a quarter, and half of that for one of them: requests of those who are known
//	Turns      what the others leave, and a quarter of all for one person
//	Large      those of them that take the processors and the database from others, too: a sixteenth for one person
//
// So requests leave at least two fifths to turns, turns leave the tenth to clicks, and neither one address nor one
// person can take what the others need. An amount that is larger than its share is given while its owner holds nothing
// else: otherwise it never could be. A body that is still arriving may be cut for one that needs its room, the oldest
// first: who sends quickly is never the oldest.
package inflight

import (
	"container/list"
	"context"
	"sync"
)

// Default is the budget of a process that does not know how much memory it may use.
const Default = 256 << 20

// Kind says on whose behalf bytes are held.
type Kind int

// The kinds.
const (
	Strangers Kind = iota
	People
	Kept
	Turns
	Large
	kinds
)

// shares are how much of the budget is for a kind, and for one owner within it, as one part of so many; all of it less
// what is kept: 0.
var shares = [kinds]struct{ all, each int64 }{
	Strangers: {4, 8}, People: {4, 8}, Kept: {10, 20}, Turns: {0, 4}, Large: {0, 16},
}

// Budget is how many bytes may be held. Any number of goroutines may use it. A nil Budget has no limit.
type Budget struct {
	limit int64
	freed chan struct{}

	mu    sync.Mutex
	held  int64 // guarded by mu, as what follows; Kept aside
	pools [kinds]pool
}

// pool is what is held of one kind.
type pool struct {
	held     int64
	by       map[string]int64 // by owner
	arriving list.List        // of *Hold: bodies that are being read, the oldest first
}

// New makes a budget of so many bytes; 0: without a limit.
func New(limit int64) *Budget {
	b := &Budget{limit: limit, freed: make(chan struct{}, 1)}
	for i := range b.pools {
		b.pools[i].by = map[string]int64{}
	}
	return b
}

// Limit is how many bytes may be held; 0: any number.
func (b *Budget) Limit() int64 {
	if b == nil {
		return 0
	}
	return b.limit
}

// Held is how many bytes are held.
func (b *Budget) Held() int64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held + b.pools[Kept].held
}

// Freed gets a value after bytes were given back; nil: never.
func (b *Budget) Freed() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.freed
}

// Unkept is how much of a limit is for others than what it is kept for.
func Unkept(limit int64) int64 { return limit - limit/shares[Kept].all }

// Share is how much one owner may hold of a kind; 0: any number.
func (b *Budget) Share(k Kind) int64 { return b.Limit() / shares[k].each }

// room is why bytes do not fit.
type room int

const (
	fits room = iota
	ofOwner
	ofAll
)

// fits says whether bytes fit, or whose room they lack. The first bytes of an owner may be more than its share, and the
// first of a kind more than all.
func (b *Budget) fits(k Kind, owner string, bytes int64) room {
	p, s := &b.pools[k], shares[k]
	most, held := Unkept(b.limit), b.held
	if k == Kept {
		most, held = b.limit/s.all, p.held
	}
	kind := p.held
	if k == Turns || k == Large {
		kind = b.pools[Turns].held + b.pools[Large].held
	}
	switch own := p.by[owner]; {
	case own > 0 && own+bytes > b.limit/s.each:
		return ofOwner
	case kind > 0 && s.all > 0 && kind+bytes > b.limit/s.all, kind > 0 && held+bytes > most:
		return ofAll
	}
	return fits
}

// Hold is what one request or turn holds. A nil Hold holds nothing, and everything fits into it.
type Hold struct {
	budget *Budget
	kind   Kind
	owner  string

	held  int64         // guarded by the budget's mu, as what follows
	place *list.Element // while its body arrives
	body  Body
	gone  bool // it was cut
}

// Body is a body that arrives. Cut ends that at once; it must not wait.
type Body interface{ Cut() }

// Hold begins to hold for an owner; nothing is taken yet. Release must be called.
func (b *Budget) Hold(k Kind, owner string) *Hold {
	if b.Limit() == 0 {
		return nil
	}
	return &Hold{budget: b, kind: k, owner: owner}
}

// As changes on whose behalf it holds.
func (h *Hold) As(k Kind, owner string) {
	if h == nil {
		return
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	held := h.held
	h.add(-held)
	h.kind, h.owner = k, owner
	h.add(held)
}

// Take takes more bytes; it reports false if they do not fit, and takes nothing then.
func (h *Hold) Take(bytes int64) bool {
	if h == nil {
		return true
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	if h.gone || h.budget.fits(h.kind, h.owner, bytes) != fits {
		return false
	}
	h.add(bytes)
	return true
}

// Receive takes the bytes of a body that arrives. Until Arrived is called the body may be cut: its room is then given
// to another one. Bodies that have been arriving for longer are cut, if that makes room for this one; but those of
// somebody who is known not for another one of theirs. A prompt body that does not fit otherwise is received on what is
// kept.
func (h *Hold) Receive(bytes int64, body Body, prompt bool) bool {
	if h == nil {
		return true
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	if prompt && h.held == 0 && h.budget.fits(h.kind, h.owner, bytes) != fits {
		h.kind = Kept
	}
	p := &h.budget.pools[h.kind]
	for lacks := h.budget.fits(h.kind, h.owner, bytes); lacks != fits; {
		var oldest *Hold
		for e := p.arriving.Front(); e != nil && oldest == nil; e = e.Next() {
			if other := e.Value.(*Hold); other != h && (lacks == ofAll || other.owner == h.owner) {
				oldest = other
			}
		}
		if oldest == nil || h.gone || lacks == ofOwner && h.kind == People {
			return false
		}
		oldest.end()
		lacks = h.budget.fits(h.kind, h.owner, bytes)
	}
	h.add(bytes)
	if h.place == nil {
		h.place, h.body = p.arriving.PushBack(h), body
	}
	return true
}

// end cuts a body.
func (h *Hold) end() {
	h.budget.pools[h.kind].arriving.Remove(h.place)
	h.place, h.gone = nil, true
	h.add(-h.held)
	h.body.Cut()
}

// Arrived ends the arrival of a body; ok is false if it was cut.
func (h *Hold) Arrived() (ok bool) {
	if h == nil {
		return true
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.arrived()
	return !h.gone
}

func (h *Hold) arrived() {
	if h.place != nil {
		h.budget.pools[h.kind].arriving.Remove(h.place)
		h.place = nil
	}
}

// Grow takes bytes, or gives them back, of what goes on whatever it comes to hold. It returns what is held now.
func (h *Hold) Grow(bytes int64) (held int64) {
	if h == nil {
		return 0
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.add(bytes)
	return h.held
}

// Release gives everything back.
func (h *Hold) Release() {
	if h == nil {
		return
	}
	h.budget.mu.Lock()
	defer h.budget.mu.Unlock()
	h.arrived()
	h.add(-h.held)
}

// add changes what is held.
func (h *Hold) add(bytes int64) {
	if bytes == 0 {
		return
	}
	b := h.budget
	p := &b.pools[h.kind]
	h.held += bytes
	p.held += bytes
	if h.kind != Kept {
		b.held += bytes
	}
	if p.by[h.owner] += bytes; p.by[h.owner] == 0 {
		delete(p.by, h.owner)
	}
	if bytes < 0 {
		select {
		case b.freed <- struct{}{}:
		default:
		}
	}
}

type key struct{}

// With returns a context whose work holds what h holds.
func With(ctx context.Context, h *Hold) context.Context { return context.WithValue(ctx, key{}, h) }

// Of returns what a context's work holds; nil if that is not counted.
func Of(ctx context.Context) *Hold {
	h, _ := ctx.Value(key{}).(*Hold)
	return h
}
