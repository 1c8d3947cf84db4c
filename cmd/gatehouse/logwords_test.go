package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTheLogHasOneLineATurn: whatever a turn does, the log has one line of it at info, and no line above debug has
// anything that people, the model or a tool wrote.
func TestTheLogHasOneLineATurn(t *testing.T) {
	t.Parallel()
	const word = "mauve-lighthouse"
	p := newSlackProcess(t, "GATEHOUSE_AGENT=demo", "GATEHOUSE_LOG_LEVEL=info")
	p.open()
	p.ann.Says("note add " + word)
	card := p.card(p.dm, "", word)
	noErr(t, p.bob.Clicks(p.dm, card.TS, "approve").Wait(t.Context()))
	p.reads(p.dm, "", "Done")
	p.ann.Says("calc 1/0 " + word)
	p.ann.Says("note list")
	p.reads(p.dm, "", "• "+word)
	p.until("the end of all", p.app, p.settled)
	turns := map[any]int{}
	for _, text := range lines(p.app.out.String()) {
		var line map[string]any
		if strings.Contains(text, word) {
			t.Errorf("the log has what was said: %s", text)
		}
		if json.Unmarshal([]byte(text), &line) == nil && line["level"] == "INFO" && line["event"] != nil {
			turns[line["event"]]++
		}
	}
	if len(turns) < 4 { // three messages, and the signal or the click
		t.Errorf("the log has %v", turns)
	}
	for event, n := range turns {
		if n != 1 {
			t.Errorf("event %v has %d lines:\n%s", event, n, p.app.out)
		}
	}
}
