package adaptertest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"gatehouse/core"
)

// StoredClicks tests that decisions which an earlier gatehouse stored, in the platform's own form, are still read. The
// file has their payloads as they were stored, all of the approval a1, and the click that each is.
func StoredClicks(t *testing.T, p core.OldClicks, file string) {
	t.Helper()
	var all []struct {
		Name    string
		Payload json.RawMessage
		Click   core.Click
	}
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has %d decisions: %v", file, len(all), err)
	}
	for _, s := range all {
		var payload bytes.Buffer
		if err := json.Compact(&payload, s.Payload); err != nil { // as it was stored
			t.Fatal(err)
		}
		e := core.Event{Body: core.ClickEvent{Approval: "a1"}, Payload: payload.Bytes()}
		got, err := core.ClickOf(e)
		if err != nil {
			got, err = p.OldClick(e)
		}
		if err != nil || got != s.Click {
			t.Errorf("%s: got %+v, %v; want %+v", s.Name, got, err, s.Click)
		}
		e.Body = core.ClickEvent{Approval: "a2"}
		// where the payload does not name it, the event does
		if c, err := p.OldClick(e); err == nil && c.Approval != "a2" {
			t.Errorf("%s is read as %+v in an event of another approval", s.Name, c)
		}
	}
}
