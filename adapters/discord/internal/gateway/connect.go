package gateway

import (
	"context"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Times between connections.
const (
	maxReadyWait = 4 * time.Second // after a connection whose session had begun or was resumed
	steadyAfter  = time.Minute     // after a connection that lasted this long, the next follows at once
	maxDials     = 2               // attempts at the session's resume address before Discord is asked for the general one
)

// connectAgain keeps a connection of the shard open until ctx ends. It returns only permanent errors.
func (s *shard) connectAgain(ctx context.Context) error {
	defer s.session.saveLast(ctx)
	log := core.NewErrorLog(s.Log, "connecting to Discord's gateway")
	pause := chat.FirstRetry
	if !s.load(ctx) {
		return nil
	}
	for ctx.Err() == nil {
		began := time.Now()
		ended, err := s.connect(ctx)
		if ctx.Err() != nil {
			return nil
		}
		log.Report(err)
		switch {
		case isFatal(err):
			s.setHealth(shardState{why: err})
			return err
		case ended.fatal != nil:
			return ended.fatal
		case err != nil:
			s.setHealth(shardState{why: err})
		default:
			s.Log.Info("a connection to Discord has ended; another is opened", "shard", s.n, "why", ended.text)
		}
		if ended.newSession {
			s.session.end()
		}
		s.Sleep(ctx, s.jitter(ended.wait))
		if time.Since(began) >= steadyAfter {
			pause = chat.FirstRetry
			continue
		}
		longest := chat.MaxRetry
		if ended.ready {
			longest = maxReadyWait
		}
		pause = min(pause, longest)
		s.Sleep(ctx, s.jitter(pause)) // also if each connection ends at once
		pause = min(2*pause, longest)
	}
	return nil
}

// load reads the session that an earlier process stored, and retries until the store can be read; false: ctx has ended.
func (s *shard) load(ctx context.Context) bool {
	log := core.NewErrorLog(s.Log, "reading the state of a session with Discord")
	for ctx.Err() == nil {
		err := s.session.load(ctx, s.bot, s.of)
		if ctx.Err() != nil {
			break
		}
		log.Report(err)
		if err == nil {
			return true
		}
		s.setHealth(shardState{why: err})
		s.Sleep(ctx, s.jitter(chat.FirstRetry))
	}
	return false
}

// connect opens one connection and receives its events until it ends.
func (s *shard) connect(ctx context.Context) (closeReason, error) {
	if s.session.intentsChanged() {
		s.session.end()
	}
	from := s.session.state()
	address := from.URL
	var err error
	switch {
	case from.ID == "":
		address, err = s.mayIdentify(ctx)
	case address == "" || s.dials >= maxDials:
		info, asked := s.ask(ctx, nil)
		address, err = info.URL, asked
	}
	if err != nil || ctx.Err() != nil {
		return closeReason{}, err
	}
	c, err := s.dial(ctx, address)
	if err != nil {
		s.dials++
		return closeReason{}, err
	}
	s.dials = 0
	if from.ID == "" {
		s.paid = false
	}
	return c.run(ctx, from), nil
}
