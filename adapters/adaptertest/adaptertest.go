// Package adaptertest tests the contract of core.Platform against a fake of the platform's server. A platform is
// complete when Run passes.
//
// The platform's tests provide a Fake: a few hooks with which a person writes and clicks there, and with which the test
// reads what is shown there. Features that only some fakes have (acknowledgements, repeated deliveries, faults) are
// optional interfaces of a Fake: Acknowledger, Repeater, FaultInjector.
//
// The tested properties, one subtest each:
//   - An event is passed to accept before it is acknowledged. An event that could not be stored comes again with the
//     same id.
//   - A repeated delivery has the same id; two clicks on a button have different ids.
//   - Parsing can be repeated and changes nothing.
//   - A payload of the wrong form is an error whose message explains what to change.
//   - A post can be read in full and edited, and nothing in it has side effects.
//   - Faults of the platform have the right category.
//   - Find returns no ref of a post that was never sent, and does not deny one whose answer was lost.
//   - Run ends soon after its context and leaves no goroutine behind.
//
// Two more have tests of their own: RefusedPresses, that a press which does nothing says why, with the same sentence on
// every platform; and StoredClicks, that decisions which an earlier gatehouse stored are still read.
package adaptertest

import (
	"testing"

	"gatehouse/core"
)

// Fake is the fake server that a platform under test is connected to, with one conversation and one person in it.
type Fake interface {
	// Say makes the person write something to the bot. It returns without waiting for the platform. If the real
	// platform repeats events that were not acknowledged, so does the fake, soon.
	Say(t testing.TB, text string)
	// Click makes the person answer the card of an approval, which was posted before.
	Click(t testing.TB, c core.Click)
	// Conversation returns the conversation, as an address and as an id.
	Conversation() (core.Address, core.ConversationID)
	// Shown returns everything that can be read in the conversation now, as it is shown there.
	Shown() string
	// SideEffects lists everything in the conversation with an effect beyond being read: a mention of everybody, a link
	// that unfurls, an escape sequence that a terminal executes.
	SideEffects() []string
	// Close shuts the fake down. It is called after the end of Run; then no goroutine of the platform may be left.
	Close()
}

// Acknowledger is a fake that knows how many events the platform has acknowledged.
type Acknowledger interface{ Acknowledged() int }

// Repeater is a fake that can repeat its last delivery, as real platforms do after a lost answer.
type Repeater interface{ Repeat(t testing.TB) }

// Recognizer is a Repeater of a platform that looks a delivery up before it stores it: a repeated one may be answered
// without being accepted again. Its Repeat returns once the delivery is answered.
type Recognizer interface{ Recognizes() }

// Fault is a failure of the platform.
type Fault string

// The faults.
const (
	Down    Fault = "down"    // it can't be reached: delivery_later, or delivery_in_doubt
	Busy    Fault = "busy"    // it asks to wait: delivery_later, with the wait
	Lost    Fault = "lost"    // the post arrives, its answer does not: delivery_in_doubt
	Refused Fault = "refused" // it refuses this post permanently: any other category
)

// FaultInjector is a fake that can make the next post fail. Fail returns false if the fake does not support the fault.
type FaultInjector interface{ Fail(f Fault) bool }

// Harness is a platform and its fake.
type Harness struct {
	// Open makes a new platform and its fake, connected. The suite calls the platform's Run.
	Open func(t *testing.T) (core.Platform, Fake)
}

// Run tests that the platform keeps the contract.
func Run(t *testing.T, h Harness) {
	for name, claim := range map[string]func(*testing.T, *fixture){
		"receives":                       receives,
		"stored before acknowledged":     storedBeforeAcknowledged,
		"stops while storing fails":      stopsWhileFailing,
		"twice delivered, one id":        deliveredTwice,
		"clicks":                         clicks,
		"parses repeatedly":              parsesAgain,
		"malformed payloads":             malformed,
		"posts and edits":                postsAndEdits,
		"questions and answers":          questionsAndAnswers,
		"long answers arrive completely": longAnswers,
		"posts at the same time":         concurrentPosts,
		"no side effects":                noSideEffects,
		"faults have their category":     faults,
		"finds only existing posts":      finds,
		"working state may be set twice": typingTwice,
	} {
		t.Run(name, func(t *testing.T) { claim(t, start(t, h)) })
	}
}
