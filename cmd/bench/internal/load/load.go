// Package load measures a chat bot: it starts the bot beside a fake platform, sends it events, waits for the replies,
// and reads what the bot used meanwhile.
//
// The fakes and the drivers are made to cost little, since they share the processors with the bot (internal/wire). What
// they cost is measured too.
package load

import (
	"context"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
)

// Mode is what is wrong in a run.
type Mode string

// The modes.
const (
	Plain      Mode = "plain"
	Duplicates Mode = "duplicates" // every event is sent twice
	Limited    Mode = "429s"       // the platform refuses some posts with 429
	Slow       Mode = "slow"       // the agent takes its time
	Kill       Mode = "kill"       // the bot is killed in the middle, and started again
)

// Mixed is what is wrong at once in the endurance test, which kills the bot itself: one event of ten is sent twice, and
// one post of 500 is refused with 429.
const Mixed Mode = "mixed"

// Modes are the modes that a run can have.
var Modes = []Mode{Plain, Duplicates, Limited, Slow, Kill}

// Of how many posts one gets a 429, and of how many events one comes twice.
const (
	limitedEach = 50
	mixedEach   = 500
	twiceEach   = 10
)

// Plan is what a run does.
type Plan struct {
	Events   int
	Warm     int     // events before them, which do not count
	Senders  int     // how many events are under way at the same time
	Threads  int     // conversations
	Rate     float64 // events a second; 0: as fast as they are acknowledged
	Backlog  int     // while so many events wait for their replies, no other is sent; 0: there is no limit
	Mode     Mode
	Within   time.Duration // how long the run may take
	Patience time.Duration // for how long no reply may come; then those that are missing are lost
	Idle     time.Duration // for how long the bot is measured without events, afterwards
	Watch    time.Duration // for how long the bot is measured when all events are acknowledged, while its agent is slow
	// how many further events are sent then, one by one, which ask for an answer without delay; on Slack only
	Beside int
	// the people ask for Markdown and for actions that need an approval (package mix); else they greet the bot
	Mix     bool
	Profile string // the file for a profile of the bot's first instance by perf; "": none
}

// Refuses reports whether the platform refuses the nth post, from 1 on, with 429.
func (p Plan) Refuses(post int) bool {
	return p.Mode == Limited && post%limitedEach == 0 || p.Mode == Mixed && post%mixedEach == 0
}

// ReadBack reports whether the bot may have to read its messages back, since it is killed.
func (p Plan) ReadBack() bool { return p.Mode == Kill || p.Mode == Mixed }

// event returns which event, counted from the first one, is sent as the ith, and whether it was sent before.
func (p Plan) event(i int) (n int, again bool) {
	switch p.Mode {
	case Duplicates:
		return i / 2, i%2 > 0
	case Mixed: // the last one of ten is sent twice
		return i/(twiceEach+1)*twiceEach + min(i%(twiceEach+1), twiceEach-1), i%(twiceEach+1) == twiceEach
	}
	return i, false
}

// Bot is a program that is measured.
type Bot struct {
	Name      string
	Instances []Instance
	Stored    func() (int64, error) // the size of its database; nil: it has none
	// the processor time of its database's server; nil: it has none that can be measured
	Server func() (time.Duration, error)
	Idle   func() (bool, error) // whether nothing is left to be posted; nil: unknown
}

// Instance is one process of a bot.
type Instance struct {
	Program []string
	Env     []string // besides the platform's
	URL     string   // where it takes events; "": it opens a connection itself
	// the URL that answers 200 when it is ready; "": it is ready when it accepts connections to URL, or has opened one
	Ready string
}

// Platform is a fake platform together with the people on it. It records in a ledger what becomes of the events.
type Platform interface {
	// Env are the variables by which a bot that takes events at a port finds the platform; the port is "" if it opens a
	// connection itself.
	Env(port string) []string
	// Ready reports whether events can be sent.
	Ready() bool
	// Send sends the events from first up to, but not including, end, and returns when each is acknowledged, or only
	// sent if the platform has no acknowledgements. sent is called with the number of those that are.
	Send(ctx context.Context, first, end int, sent func(n int)) error
	// Tally is what came besides the replies.
	Tally() Tally
	Close()
}

// Tally is what came besides the replies.
type Tally struct {
	Calls  map[string]int // of the platform's API, by method
	Strays int            // posts that are no reply, or in the wrong place
	Stray  []string       // some of them
	Resent int            // events that were sent again, since they were not acknowledged
}

// Open starts a platform that records in a ledger.
type Open func(*ledger.Ledger) (Platform, error)

// Result is what a run measured.
type Result struct {
	ledger.Summary
	Tally
	Sent     int           // events, with those that do not count
	Start    time.Duration // from the start of the first instance until it was ready
	CPU      time.Duration // of the bot
	Server   time.Duration // of its database's server
	Driver   time.Duration // of this process: the driver and the fake
	Peak     int64         // bytes of memory that the bot had at most, in all instances together
	Written  int64         // bytes that the bot wrote to disks
	Switches int64         // context switches of the bot
	Stored   int64         // bytes by which its database grew
	Idle     time.Duration // processor time of the bot in Plan.Idle without events
	Watch    time.Duration // the same in Plan.Watch
	Beside   ledger.Summary
	Problem  string // what is wrong with the counts, "" if nothing is
}
