// Package adaptertest states what every core.Platform must show, and shows it against a fake of the platform's server: a platform
// is done when Run passes.
//
// The platform's tests bring a Fake: a few hooks by which a person speaks and clicks there, and by which the test reads what
// can be read there. What only some fakes have (an acknowledgement, deliveries that come twice, faults that can be provoked)
// are interfaces that a Fake may implement besides: Acknowledger, Repeater, FaultInjector.
//
// The claims, one subtest each: an event is handed over before it is acknowledged, and one that could not be stored comes again
// under the same id; a delivery that comes twice has one id; two presses of a button have two; parsing can be repeated and
// changes nothing; a payload of the wrong form is an error that says what to change; what is posted can be read, whole, and be
// edited; nothing in it reaches out; faults of the platform have the right category; Find does not claim what it can't know; and
// Run ends soon after its context, leaving nothing behind.
package adaptertest

import (
	"testing"

	"gatehouse/core"
)

// Fake is the fake server that a platform under test is connected to, with one conversation and one person in it.
type Fake interface {
	// Say has the person say something to the bot. It returns without waiting for the platform. Where the real platform sends
	// again what was not acknowledged, so does this one, soon.
	Say(t testing.TB, text string)
	// Click has the person answer the card of an approval, which was posted before.
	Click(t testing.TB, c core.Click)
	// Conversation is where posts go, as an address and as an id.
	Conversation() (core.Address, core.ConversationID)
	// Shown is everything that can be read in the conversation now, as it is shown there.
	Shown() string
	// SideEffects names everything in it that does more than be read: a mention of everybody, a link that unfurls, an escape sequence
	// that a terminal obeys.
	SideEffects() []string
	// Close shuts the fake down. It comes after the end of Run; then no goroutine of the platform may be left.
	Close()
}

// Acknowledger is a fake that knows how many events the platform has acknowledged.
type Acknowledger interface{ Acknowledged() int }

// Repeater is a fake that can deliver what it delivered last once more, as real ones do after a lost answer.
type Repeater interface{ Repeat(t testing.TB) }

// Fault is something that goes wrong on the platform.
type Fault string

// The faults.
const (
	Down    Fault = "down"    // it can't be reached: delivery_later, or delivery_in_doubt
	Busy    Fault = "busy"    // it asks to wait: delivery_later, with the wait
	Lost    Fault = "lost"    // the post arrives, its answer does not: delivery_in_doubt
	Refused Fault = "refused" // it refuses this post for good: any other category
)

// FaultInjector is a fake in which the next post can be made to fail; false: that fault is not possible there.
type FaultInjector interface{ Fail(f Fault) bool }

// Harness is a platform and its fake.
type Harness struct {
	// Open makes both, fresh and connected; Run is called by the suite.
	Open func(t *testing.T) (core.Platform, Fake)
}

// Run shows that the platform keeps the contract.
func Run(t *testing.T, h Harness) {
	for name, claim := range map[string]func(*testing.T, *fixture){
		"receives":                       receives,
		"stored before acknowledged":     storedBeforeAcknowledged,
		"stops while storing fails":      stopsWhileFailing,
		"twice delivered, one id":        deliveredTwice,
		"clicks":                         clicks,
		"parses again and again":         parsesAgain,
		"malformed payloads":             malformed,
		"posts and edits":                postsAndEdits,
		"long answers arrive whole":      longAnswers,
		"posts at the same time":         concurrentPosts,
		"no side effects":                nothingReachesOut,
		"faults have their category":     faults,
		"finds only what is there":       finds,
		"working state may be set twice": typingTwice,
	} {
		t.Run(name, func(t *testing.T) { claim(t, start(t, h)) })
	}
}
