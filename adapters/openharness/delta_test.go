package openharness_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/openharness"
	"gatehouse/core/live"
)

// TestDeltasAreSentToWhoAsksForThem, without an id, so that no place moves by them, and to nobody else.
func TestDeltasAreSentToWhoAsksForThem(t *testing.T) {
	t.Parallel()
	hub := live.New(openharness.Name)
	s := running(t, func(o *openharness.Options) { o.Live = hub })
	turn := hub.Begin(openharness.Name, mailbox, 7)
	turn.Piece("**The** refund ")
	for query, want := range map[string]string{
		"": "", "&deltas=0": "", "&html=1": "",
		"&deltas=1":        `{"turn":"7","text":"**The** refund"}`,
		"&deltas=1&html=1": `{"turn":"7","html":"<p><strong>The</strong> refund</p>"}`,
	} {
		got := ""
		for _, e := range s.followed(t, "session=s1&wait=0"+query) {
			if e["event"] == "delta" {
				got += plain.Replace(e["data"])
			}
			if e["id"] != "" {
				t.Errorf("%s: a delta has the id %s", query, e["id"])
			}
		}
		if got != want {
			t.Errorf("%q: told %s, want %s", query, got, want)
		}
	}
	if all := s.followed(t, "session=s2&wait=0&deltas=1"); len(all) > 0 {
		t.Errorf("another session is told %v", all)
	}
}

// plain takes away what tests need not see of JSON.
var plain = strings.NewReplacer(` dir=\"auto\"`, "", `\u003c`, "<", `\u003e`, ">", `\n`, "")
