package sqlstore

import (
	"context"
	"sync"

	"gatehouse/core"
)

// claimed is what the store has handed out to its process. A claim whose commit went through although it was reported as failed is held
// by a process that does not know of it. The next claim finds such queues and posts, and releases them.
type claimed struct {
	calls  sync.RWMutex // a claim shares it; the search for unknown claims holds it alone
	mu     sync.Mutex   // guards what follows
	queues map[core.QueueKey]int64
	posts  map[int64]int64
	lost   bool // the answer of a claim was lost
}

func newClaimed() *claimed {
	return &claimed{queues: map[core.QueueKey]int64{}, posts: map[int64]int64{}}
}

// claiming runs a claim, and first releases what an earlier one may have taken unnoticed.
func claiming[T any](ctx context.Context, s *Store, owner string, claim func() ([]T, error), note func(*claimed, T)) ([]T, error) {
	if err := s.releaseUnknown(ctx, owner); err != nil {
		return nil, err
	}
	s.claimed.calls.RLock()
	defer s.claimed.calls.RUnlock()
	got, err := claim()
	s.claimed.mu.Lock()
	defer s.claimed.mu.Unlock()
	s.claimed.lost = s.claimed.lost || err != nil
	for _, one := range got {
		note(s.claimed, one)
	}
	return got, err
}

// releaseUnknown releases what owner holds and was never told of. No turn has begun, so the attempts are taken back.
func (s *Store) releaseUnknown(ctx context.Context, owner string) error {
	c := s.claimed
	if !c.answerLost() {
		return nil
	}
	c.calls.Lock()
	defer c.calls.Unlock()
	if !c.answerLost() {
		return nil
	}
	err := s.write(ctx, func(t *Tx) error { return t.releaseUnknown(owner, c) })
	if err == nil {
		c.mu.Lock()
		c.lost = false
		c.mu.Unlock()
	}
	return err
}

func (c *claimed) answerLost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}

func (t *Tx) releaseUnknown(owner string, c *claimed) error {
	held, err := t.holds(owner)
	if err != nil {
		return err
	}
	for _, h := range held {
		if c.knowsQueue(h) {
			continue
		}
		if _, err := t.Exec(`update events set attempt = attempt - 1 where seq = $1`, h.Event); err != nil {
			return err
		}
		if err := t.releaseLease(h.Key, h.Event); err != nil {
			return err
		}
	}
	posts, err := List(t, readOutbox, `select `+outboxColumns+` from outbox where owner = $1 and owner <> '' order by seq`+t.forUpdate(), owner)
	if err != nil {
		return err
	}
	for _, row := range posts {
		if c.knowsPost(row) {
			continue
		}
		if err := t.lockDestinations(destination(row.Post)); err != nil {
			return err
		}
		if _, err := t.Exec(`update outbox set owner = '' where seq = $1`, row.Seq); err != nil {
			return err
		}
	}
	return nil
}

func (c *claimed) knowsQueue(h core.Hold) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queues[h.Key] == h.Fence
}

func (c *claimed) knowsPost(r core.OutboxRow) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.posts[r.Seq] == r.Fence
}

// endClaim forgets a claim that ended or was lost.
func (c *claimed) endClaim(claim core.Claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queues[claim.Key] == claim.Fence {
		delete(c.queues, claim.Key)
	}
}

// endPost forgets a delivery that ended or was lost.
func (c *claimed) endPost(r core.OutboxRow) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.posts[r.Seq] == r.Fence {
		delete(c.posts, r.Seq)
	}
}
