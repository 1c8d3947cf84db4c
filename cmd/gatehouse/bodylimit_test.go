package main

import (
	"strings"
	"testing"

	"gatehouse/core"
)

// TestABodyAboveTheLimit: where the vendor refuses a request for its size, the person is told what to do, and the
// conversation goes on without the message that was too large.
func TestABodyAboveTheLimit(t *testing.T) {
	for name, start := range vendors {
		t.Run(name, func(t *testing.T) {
			v := start(t)
			s := serveModel(t, v, nil)
			v.Then(v.say("Hello."))
			s.ann.Says("hello")
			s.reads(s.dm, "", "Hello.")
			v.Largest(len(v.lastBody()) + 5000)
			s.ann.Says("Read this: " + strings.Repeat("long ", 2000))
			s.reads(s.dm, "", core.Sentence(core.ConversationTooLong))
			if refused := v.Refused(); len(refused) == 0 || !strings.Contains(refused[0], "more than") {
				t.Errorf("refused: %q", refused)
			}
			v.Then(v.say("I am still here."))
			s.ann.Says("are you there?")
			s.reads(s.dm, "", "I am still here.")
		})
	}
}
