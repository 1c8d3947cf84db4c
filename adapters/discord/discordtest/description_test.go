package discordtest

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"slices"
	"testing"

	"gatehouse/adapters/discord/discordtest/internal/description"
)

const (
	// wholeKey is the environment variable with the path of Discord's whole description of its API.
	wholeKey  = "GATEHOUSE_TEST_DISCORD_API"
	partsPath = "testdata/discord-openapi.json"
)

var update = flag.Bool("update", false, "draw the stored parts of Discord's description anew")

// TestStoredPartsAreDiscords: the stored parts of Discord's description have each route of the fake. With the whole
// description at hand they are those of it, and -update draws them anew.
func TestStoredPartsAreDiscords(t *testing.T) {
	calls := slices.Collect(maps.Keys(routes))
	stored, err := os.ReadFile(partsPath)
	from, whole := stored, os.Getenv(wholeKey) != ""
	if whole {
		from, err = os.ReadFile(os.Getenv(wholeKey))
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err := description.Parts(from, calls)
	if err != nil {
		t.Fatal(err)
	}
	if whole && *update {
		if err := os.WriteFile(partsPath, want, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(stored, want) {
		t.Errorf("%s differs from the description; set %s and run this test with -update", partsPath, wholeKey)
	}
}
