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
	adaptertest.RefusedPresses(t, "console", "console:ann", func(t *testing.T, c adaptertest.Refusal) (said string) {
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
