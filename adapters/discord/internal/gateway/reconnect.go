package gateway

import (
	"context"
	"time"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
	"gatehouse/core/retry"
)

// Times between connections.
const (
	maxReadyWait = 4 * time.Second // after a connection whose session had begun or was resumed
	steadyAfter  = time.Minute     // after a connection that lasted this long, the next follows at once
	maxNewWait   = 5 * time.Minute // after a connection whose session can't be resumed
	// attempts at the session's resume address before Discord is asked for the general one
	maxDials = 2
	// connections in a row that did not resume the session, before a new one begins
	maxResumes = 3
	// RefusedWait is the wait after Discord refused the token.
	RefusedWait = 10 * time.Second
	// refusals of the token in a row before Discord is asked in another way whether it refuses it
	maxRefusals = 3
)

// connectAgain keeps a connection of the shard open until ctx ends. It returns only permanent errors.
func (s *shard) connectAgain(ctx context.Context) error {
	defer s.session.saveLast(ctx)
	defer s.endCatchUp()
	log := retry.NewLog(s.Log, "connecting to Discord's gateway")
	pause := outbound.FirstRetry
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
		refused := core.CategoryOf(ended.fatal) == core.Unauthorized
		if !refused {
			s.refusals = 0
		}
		switch {
		case refused && !s.refusedForGood(ctx, ended.fatal):
			ended.wait = RefusedWait
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
			pause = outbound.FirstRetry
			continue
		}
		longest := outbound.MaxRetry
		switch {
		case ended.newSession || refused: // what follows may count as an identify
			longest = maxNewWait
		case ended.ready:
			longest = maxReadyWait
		}
		pause = min(pause, longest)
		s.Sleep(ctx, s.jitter(pause)) // also if each connection ends at once
		pause = min(2*pause, longest)
	}
	return nil
}

// refusedForGood reports whether a token is refused for good that Discord refused over its gateway. That may be a fault
// that passes: it must come several times in a row, and the REST API must refuse the token too.
func (s *shard) refusedForGood(ctx context.Context, err error) bool {
	if s.refusals++; s.refusals >= maxRefusals && s.RefusesToken(ctx) {
		return true
	}
	s.Log.Warn("Discord refuses the token over its gateway; it is tried again", "shard", s.n, "refusals", s.refusals,
		"err", err)
	return false
}

// countResume counts the connections that did not resume the session. After some of them a new one begins: Discord may
// have lost the session without saying so.
func (s *shard) countResume(reason *closeReason) {
	if s.unresumed++; reason.ready || reason.newSession {
		s.unresumed = 0
	}
	if s.unresumed < maxResumes || reason.fatal != nil {
		return
	}
	s.Log.Warn("Discord does not resume the session, so a new one begins: messages that were missed are fetched, but "+
		"button presses and commands that were missed are lost", "shard", s.n, "tries", s.unresumed,
		"why", reason.text)
	reason.newSession, s.unresumed = true, 0
}

// load reads the session and the backlog that an earlier process stored, and retries until the store can be read;
// false: ctx has ended.
func (s *shard) load(ctx context.Context) bool {
	log := retry.NewLog(s.Log, "reading the state of a session with Discord")
	for ctx.Err() == nil {
		err := s.session.load(ctx, s.bot, s.of)
		if err == nil {
			err = s.backlog.load(ctx)
		}
		if ctx.Err() != nil {
			break
		}
		log.Report(err)
		if err == nil {
			return true
		}
		s.setHealth(shardState{why: err})
		s.Sleep(ctx, s.jitter(outbound.FirstRetry))
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
		info, asked := s.ask(ctx, s.unheard)
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
	s.opened.Add(1)
	if from.ID == "" {
		s.paid = false
		if left := s.sessionsLeft.Load(); left > 0 {
			s.sessionsLeft.CompareAndSwap(left, left-1)
		}
	}
	return c.run(ctx, from), nil
}

// closeReason is why a connection ended, and what follows: by default another connection, which resumes the session.
type closeReason struct {
	text       string
	fatal      error         // permanent: no other connection is tried
	newSession bool          // the session can't be resumed
	wait       time.Duration // before the next connection, jittered
	ready      bool          // the session had begun, or was resumed
}

// disconnected records that the shard's events are no longer received, and why.
func (s *shard) disconnected(r closeReason) {
	state := shardState{why: r.fatal}
	if state.why == nil && r.text != "" {
		state.why = core.Errorf(core.DeliveryLater,
			"Shard %d receives no events from Discord: %s. Another connection is being opened.", s.n, r.text)
	}
	s.setHealth(state)
}

// Waits before the next connection.
const (
	invalidWait   = 5 * time.Second // after a session was declared invalid; Discord asks for one to five seconds
	rateLimitWait = 30 * time.Second
)

// Discord's close codes that need special treatment.
const (
	closeNotAuthenticated  = 4003
	closeAuthentication    = 4004
	closeInvalidSequence   = 4007
	closeRateLimited       = 4008
	closeSessionTimedOut   = 4009
	closeInvalidShard      = 4010
	closeShardingRequired  = 4011
	closeInvalidVersion    = 4012
	closeInvalidIntents    = 4013
	closeDisallowedIntents = 4014
)

// reasonOf returns the meaning of one of Discord's close codes.
func (g *Gateway) reasonOf(code int) closeReason {
	switch code {
	case closeNotAuthenticated, closeInvalidSequence, closeSessionTimedOut:
		return closeReason{newSession: true, text: "Discord has ended the session"}
	case closeRateLimited:
		return closeReason{wait: rateLimitWait, text: "too much was sent over the gateway"}
	case closeDisallowedIntents:
		if g.IntentsRefused() {
			return closeReason{newSession: true, text: "the message content is not granted"}
		}
	}
	if fatal, ok := fatalCodes[code]; ok {
		return closeReason{fatal: core.Errorf(fatal.category, fatal.text, code)}
	}
	return closeReason{text: "Discord closed the connection"}
}

// fatalCodes are the codes after which another connection would end in the same way, each with its error.
var fatalCodes = map[int]struct {
	category core.Category
	text     string
}{
	closeAuthentication: {
		core.Unauthorized, "Discord refuses the token over its gateway (%d). If that goes on, reset it on the " +
			"page Bot of your application, and set DISCORD_BOT_TOKEN to the new one.",
	},
	closeInvalidShard: {
		core.Invalid, "Discord refuses the shard number (%d). Set DISCORD_SHARDS to the same number in all " +
			"processes, or to 0.",
	},
	closeShardingRequired: {
		core.Invalid, "The bot is in too many servers for so few shards (%d). Raise DISCORD_SHARDS, or set it to 0 " +
			"for as many as Discord recommends.",
	},
	closeInvalidVersion: {
		core.Unsupported, "Discord no longer supports this version of its gateway (%d). Install a newer gatehouse.",
	},
	closeInvalidIntents: {
		core.Unsupported, "Discord does not know the intents that were asked for (%d). Install a newer gatehouse.",
	},
	closeDisallowedIntents: {
		core.Unsupported, "Discord grants the bot none of its intents (%d). See Privileged Gateway Intents on the " +
			"page Bot of your application.",
	},
}
