package discord

import (
	"time"

	"gatehouse/core"
)

// parting is why a connection ended and what comes next: by itself, another one that resumes the session.
type parting struct {
	why   string
	fatal error         // another one is useless
	anew  bool          // the session can't be resumed
	wait  time.Duration // before the next one, jittered
	lived bool          // the session had begun, or gone on
}

// deaf notes that the shard is not heard any more, and why.
func (s *shard) deaf(p parting) {
	h := hearing{why: p.fatal}
	if h.why == nil && p.why != "" {
		h.why = core.Errorf(core.DeliveryLater, "Shard %d hears nothing from Discord: %s. Another connection is being opened.", s.n, p.why)
	}
	s.discord.ears.set(s.n, h)
}

// Waits before the next connection.
const (
	invalidWait = 5 * time.Second // after a session was declared invalid; Discord asks for one to five seconds
	crowdedWait = 30 * time.Second
)

// The close codes that mean more than a broken connection.
const (
	closeUnauthenticated = 4003
	closeToken           = 4004
	closeSequence        = 4007
	closeRate            = 4008
	closeTimeout         = 4009
	closeShard           = 4010
	closeSharding        = 4011
	closeVersion         = 4012
	closeIntents         = 4013
	closeDisallowed      = 4014
)

// partingOf is what a close code of Discord's means.
func (d *Discord) partingOf(code int) parting {
	switch code {
	case closeUnauthenticated, closeSequence, closeTimeout:
		return parting{anew: true, why: "Discord has ended the session"}
	case closeRate:
		return parting{wait: crowdedWait, why: "too much was sent over the gateway"}
	case closeDisallowed:
		if d.reads() {
			d.refusedContent()
			return parting{anew: true, why: "the message content is not granted"}
		}
	}
	if fatal := fatalClose(code); fatal != nil {
		return parting{fatal: fatal}
	}
	return parting{why: "Discord closed the connection"}
}

// fatalClose explains the codes after which another connection would end in the same way; nil for all others.
func fatalClose(code int) error {
	switch code {
	case closeToken:
		return core.Errorf(core.ProviderAuthentication, "Discord refuses the token (%d). Make a new one on the page Bot of your application, and set DISCORD_BOT_TOKEN anew.", code)
	case closeShard:
		return core.Errorf(core.Invalid, "Discord knows no such shard (%d). Set DISCORD_SHARDS to the same number in all processes, or to 0.", code)
	case closeSharding:
		return core.Errorf(core.Invalid, "The bot is in too many servers for so few shards (%d). Raise DISCORD_SHARDS, or set it to 0 for as many as Discord recommends.", code)
	case closeVersion:
		return core.Errorf(core.Unsupported, "Discord no longer speaks this version of its gateway (%d). Install a newer gatehouse.", code)
	case closeIntents:
		return core.Errorf(core.Unsupported, "Discord does not know the intents that were asked for (%d). Install a newer gatehouse.", code)
	case closeDisallowed:
		return core.Errorf(core.Unsupported, "Discord grants the bot none of its intents (%d). See Privileged Gateway Intents on the page Bot of your application.", code)
	}
	return nil
}
