package console_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/console"
	"gatehouse/core"
)

// TestRefusedPressesSaySo in the next line.
func TestRefusedPressesSaySo(t *testing.T) {
	without := map[string]string{}
	for _, name := range []string{
		"a button of another key", "a form of another key", "a button of another version", "a form of another version",
		"a button of one unknown", "a form of one unknown", "a button that does not fit", "a form that does not fit",
		"a button of one decided", "a form of one decided", "a button of a stranger", "a form of a stranger",
		"a form of other arguments", "an approval of other arguments", "arguments that can't be changed",
		"a denial without a reason",
		"an answer that does not fit", "one that can't be looked up", "one that can't be stored",
	} {
		without[name] = "a terminal has no buttons and forms: what is typed is for a card that it has printed"
	}
	adaptertest.RefusedPresses(t, "console:ann", without, func(t *testing.T, c adaptertest.Refusal) (said string) {
		synctest.Test(t, func(t *testing.T) {
			s := newGateway(t, console.Options{In: strings.NewReader(c.Typed + "\n")})
			s.draw(c.Card)
			s.run(nil)
			said = s.output.String()
			for _, e := range s.events {
				if e.Kind() == core.KindClick {
					t.Errorf("stored: %+v", e)
				}
			}
		})
		return said
	})
}
