package sqlstore

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"gatehouse/core"
	"gatehouse/core/retry"
)

// missedBeats is how many beats of its own a process makes without a beat of another one before it takes the other for
// dead.
const missedBeats = 4

// heartbeat is what a process has seen of another one: its beat, and how many of the process's own beats came since
// then.
type heartbeat struct {
	beat  int64
	since int
}

// beats are what a process knows of the other ones, and its own goroutines that beat.
type beats struct {
	mu     sync.Mutex
	others map[string]map[string]heartbeat // by owner of this process; guarded by mu
	stop   context.CancelFunc
	ctx    context.Context
	loops  sync.WaitGroup
}

func newBeats() *beats {
	ctx, stop := context.WithCancel(context.Background())
	return &beats{others: map[string]map[string]heartbeat{}, ctx: ctx, stop: stop}
}

// expired notes a successful beat of owner, at which the others had these beats, and returns the ones that it now takes
// for dead.
func (b *beats) expired(owner string, others map[string]int64) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var dead []string
	now := map[string]heartbeat{}
	for name, beat := range others {
		w, known := b.others[owner][name]
		if !known || w.beat != beat {
			w = heartbeat{beat: beat, since: -1}
		}
		if w.since++; w.since >= missedBeats {
			dead = append(dead, name)
		}
		now[name] = w
	}
	b.others[owner] = now
	return dead
}

// keepBeating beats for an owner until the store is closed. What dead processes held is released beside it, so that a
// beat never waits.
func (s *Store) keepBeating(owner string, every time.Duration) {
	dead := make(chan map[string]int64, 1)
	s.beats.loops.Go(func() {
		trouble := retry.NewLog(s.options.Log, "releasing what a process that ended held")
		for {
			select {
			case owners := <-dead:
				trouble.Report(s.expireAll(s.beats.ctx, owners))
			case <-s.beats.ctx.Done():
				return
			}
		}
	})
	s.beats.loops.Go(func() {
		trouble := retry.NewLog(s.options.Log, "telling other processes that this one is alive")
		slow := slowness{log: s.options.Log}
		timer := time.NewTimer(retry.UntilPoll(every))
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
			case <-s.beats.ctx.Done():
				return
			}
			began := time.Now()
			expired, err := s.beat(s.beats.ctx, owner)
			if s.beats.ctx.Err() != nil {
				return
			}
			trouble.Report(err)
			slow.note(time.Since(began), err)
			if len(expired) > 0 {
				select {
				case dead <- expired:
				default: // earlier ones are still being released; these are found again at the next beat
				}
			}
			timer.Reset(retry.UntilPoll(every))
		}
	})
}

// slowBeat is how long a beat may take before the database is called slow: it is one short statement.
const slowBeat = time.Second

// slowness warns of a database that answers slowly, once until it is fast again.
type slowness struct {
	log  *slog.Logger
	slow bool
}

func (s *slowness) note(took time.Duration, err error) {
	if err != nil || took > slowBeat == s.slow {
		return
	}
	if s.slow = !s.slow; s.slow {
		s.log.Warn("the database answers slowly. "+core.LookWhySlow, "took", took.Round(time.Millisecond))
		return
	}
	s.log.Info("the database answers quickly again")
}

// Beat tells the other processes that owner lives, and releases what dead processes held. Register has it called for
// as long as the store is open. It compares no clocks: a process is dead if it does not beat during several successful
// beats of another one. So processes that all can't reach the database do not take each other for dead, and a stepped
// clock means nothing. A process that was only paused loses what it held, by the fence, and goes on.
func (s *Store) Beat(ctx context.Context, owner string) error {
	expired, err := s.beat(ctx, owner)
	if err != nil {
		return err
	}
	return s.expireAll(ctx, expired)
}

// beat raises the owner's beat. It returns the owners that it takes for dead, each with its last beat.
func (s *Store) beat(ctx context.Context, owner string) (expired map[string]int64, err error) {
	var others map[string]int64
	err = s.writeBy(s.engine.Beat, ctx, func(t *Tx) error {
		others = map[string]int64{}
		if _, err := t.Exec(`insert into owners (owner, beat) values ($1, $2) on conflict (owner) do update
			set beat = owners.beat + 1`, owner, firstBeat()); err != nil {
			return err
		}
		return t.each(`select owner, beat from owners where owner <> $1`, []any{owner},
			func(scan func(...any) error) error {
				var name string
				var beat int64
				err := scan(&name, &beat)
				others[name] = beat
				return err
			})
	})
	if err != nil {
		return nil, err
	}
	expired = map[string]int64{}
	for _, dead := range s.beats.expired(owner, others) {
		expired[dead] = others[dead]
	}
	return expired, nil
}

// keepAlive makes sure that an owner that claims is missed if it dies, even if it was taken for dead before. Its row is
// locked, so that nobody who takes it for dead at this moment overlooks the claim. It also reads the clock, if no lock
// has.
func (t *Tx) keepAlive(owner string) error {
	add := `insert into owners (owner, beat) values ($1, $2) on conflict (owner) do nothing`
	if !t.sql.RowLocks {
		_, err := t.Exec(add, owner, firstBeat())
		return err
	}
	add = `with added as (` + add + `) select ` + t.sql.Clock + ` from owners where owner = $1 for key share`
	if t.HasClock() {
		return t.Do(add, owner, firstBeat())
	}
	known, err := t.Row([]any{Clock{t}}, add, owner, firstBeat())
	if err != nil || known {
		return err
	}
	return t.readClock()
}

// firstBeat returns the first beat of an owner, different each time: whoever saw an owner fall silent must not take it
// for the same silence when it is back.
func firstBeat() int64 { return rand.Int64N(1 << 52) }

// expireAll expires owners, each with its last beat; one that can't be expired does not keep it from the others.
func (s *Store) expireAll(ctx context.Context, dead map[string]int64) error {
	var failed error
	for owner, beat := range dead {
		if err := s.expire(ctx, owner, beat); err != nil {
			failed = err
		}
	}
	return failed
}

// expire releases what a dead owner held, unless it has beaten after all.
func (s *Store) expire(ctx context.Context, owner string, beat int64) error {
	return s.write(ctx, func(t *Tx) error {
		n, err := t.Exec(`delete from owners where owner = $1 and beat = $2`, owner, beat)
		if err != nil || n == 0 {
			return err
		}
		return t.releaseOwner(owner)
	})
}

// claimed is what the store has handed out to its process. A claim whose commit went through although it was reported
// as failed is held by a process that does not know of it. The next claim finds such queues and posts, and releases
// them.
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
func claiming[T any](
	ctx context.Context, s *Store, owner string, claim func() ([]T, error), note func(*claimed, T),
) ([]T, error) {
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
		if err := t.releaseQueue(h.Key, h.Event); err != nil {
			return err
		}
	}
	posts, err := List(t, readOutbox, `select `+outboxColumns+` from outbox where owner = $1 and owner <> ''
		and destination >= '' order by destination, seq`+t.sql.forUpdate(), owner)
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

// addClaim notes a claim; the caller holds mu.
func (c *claimed) addClaim(claim core.Claim) { c.queues[claim.Key] = claim.Fence }

// addPost notes a delivery; the caller holds mu.
func (c *claimed) addPost(r core.OutboxRow) { c.posts[r.Seq] = r.Fence }

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
