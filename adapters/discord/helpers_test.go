package discord_test

import (
	"encoding/json"
	"testing"

	"gatehouse/core"
)

func amendment(t *testing.T, e core.Event) core.Amendment {
	t.Helper()
	var a core.Amendment
	if err := json.Unmarshal(e.Payload, &a); err != nil {
		t.Fatal(err)
	}
	return a
}
