// Package adaptertest states what every core.Platform must show, and shows it against a fake of the platform's outside: a platform
// is done when Run passes.
//
// The platform's tests bring an Outside: a few hooks by which a person speaks and clicks there, and by which the test reads what
// can be read there. What only some outsides have (an acknowledgement, deliveries that come twice, faults that can be provoked)
// are interfaces that an Outside may implement besides: Acknowledger, Repeater, Breaker.
//
// The claims, one subtest each: an event is handed over before it is acknowledged, and one that could not be stored comes again
// under the same id; a delivery that comes twice has one id; two presses of a button have two; parsing can be repeated and
// changes nothing; a payload of the wrong form is an error that says what to change; what is posted can be read, whole, and be
// edited; nothing in it reaches out; faults of the outside have the right category; Find does not claim what it can't know; and
// Run ends soon after its context, leaving nothing behind.
package adaptertest

import (
	"testing"

	"gatehouse/core"
)

// Outside is the fake that a platform under test is connected to, with one conversation and one person in it.
type Outside interface {
	// Say has the person say something to the bot. It returns without waiting for the platform. Where the real outside sends
	// again what was not acknowledged, so does this one, soon.
	Say(t testing.TB, text string)
	// Click has the person answer the card of an approval, which was posted before.
	Click(t testing.TB, c core.Click)
	// Place is the conversation: where posts go, and its conversation.
	Place() (core.Address, core.ConversationID)
	// Visible is everything that can be read in the conversation now, as it is shown there.
	Visible() string
	// Alarms names everything in it that would have reached out: a mention of everybody, a link that unfolds, an escape sequence
	// that a terminal obeys.
	Alarms() []string
	// Close shuts the outside down. It comes after the end of Run; then no goroutine of the platform may be left.
	Close()
}

// Acknowledger is an outside that knows how many events the platform has acknowledged.
type Acknowledger interface{ Acknowledged() int }

// Repeater is an outside that can deliver what it delivered last once more, as real ones do after a lost answer.
type Repeater interface{ Repeat(t testing.TB) }

// Fault is something that goes wrong outside.
type Fault string

// The faults.
const (
	Down    Fault = "down"    // it can't be reached: delivery_later, or delivery_in_doubt
	Busy    Fault = "busy"    // it asks to wait: delivery_later, with the wait
	Lost    Fault = "lost"    // the post arrives, its answer does not: delivery_in_doubt
	Refused Fault = "refused" // it refuses this post for good: any other category
)

// Breaker is an outside in which the next post can be made to fail; false: that fault can't happen there.
type Breaker interface{ Break(f Fault) bool }

// Harness is a platform and its fake.
type Harness struct {
	// Open makes both, fresh and connected; Run is called by the suite.
	Open func(t *testing.T) (core.Platform, Outside)
}

// Run shows that the platform keeps the contract.
func Run(t *testing.T, h Harness) {
	for name, claim := range map[string]func(*testing.T, *rig){
		"hears":                          hears,
		"stored before acknowledged":     storedFirst,
		"stops while storing fails":      stopsWhileFailing,
		"twice delivered, one id":        deliveredTwice,
		"clicks":                         clicks,
		"parses again and again":         parsesAgain,
		"malformed payloads":             malformed,
		"posts and edits":                postsAndEdits,
		"long answers arrive whole":      longAnswers,
		"posts from many sides":          manySides,
		"nothing reaches out":            nothingReachesOut,
		"faults have their category":     faults,
		"finds only what is there":       finds,
		"working state may be set twice": worksTwice,
	} {
		t.Run(name, func(t *testing.T) { claim(t, start(t, h)) })
	}
}
