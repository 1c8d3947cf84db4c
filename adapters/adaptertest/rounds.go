package adaptertest

import (
	"cmp"
	"flag"
	"os"
)

// The tests that draw random posts try 40 of them; GATEHOUSE_PROPERTY_ROUNDS is another number, and so is the flag
// -rapid.checks.
func init() {
	if err := flag.Set("rapid.checks", cmp.Or(os.Getenv("GATEHOUSE_PROPERTY_ROUNDS"), "40")); err != nil {
		panic(err)
	}
}
