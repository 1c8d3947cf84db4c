package delta_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatehouse/adapters/openharness/internal/delta"
	"gatehouse/core/live"
)

// hidden must not be shown in any event: secrets, or what calls people.
var hidden = []string{
	"sk-ant-api03-" + strings.Repeat("aB3_", 20), "ghp_" + strings.Repeat("aB3x", 9), "AKIA0123456789ABCDEF",
	"xoxb-1234567890-1234567890-" + strings.Repeat("aB3x", 6), "glpat-aB3xaB3xaB3xaB3xaB3x",
	"-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("aB3x", 16) + "\naB3x\n-----END PRIVATE KEY-----",
	"@everyone", "@here", "<@U0123456>", "<!channel>", "<@&123>", "\u202e",
}

var around = []string{
	"Hello, ", "\n", "**", "`", "```\n", "| a |\n", " ", "é", "- ", "(", ".", "\r\n", "<b>", "# ", "2 < 3 ",
}

// shown is the text of an event, as it came.
func shown(t interface{ Fatal(...any) }, data []byte) string {
	var e struct {
		Text, HTML string
		Ended      bool
	}
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return e.Text + e.HTML
}

// leaks reports what an event shows of a secret: more than a few of its characters in a row.
func leaks(text, secret string) bool {
	if len(secret) < 16 {
		return strings.Contains(text, secret)
	}
	for at := 0; at+16 <= len(secret); at++ {
		if !strings.Contains(secret[at:at+16], "KEY") && strings.Contains(text, secret[at:at+16]) {
			return true
		}
	}
	return false
}

// TestLaw8_NoEventShowsASecretOrCallsPeople: however a text is cut into pieces, with an answer before it or an attempt
// that failed, as text and as HTML.
func TestLaw8_NoEventShowsASecretOrCallsPeople(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SampledFrom(hidden).Draw(t, "secret")
		context := rapid.SliceOfN(rapid.SampledFrom(around), 0, 4)
		before, after := strings.Join(context.Draw(t, "before"), ""), strings.Join(context.Draw(t, "after"), "")
		text := before + " " + secret + " " + after
		drawing := delta.Drawing{HTML: rapid.Bool().Draw(t, "html")}
		hub := live.New("openharness")
		turn := hub.Begin("openharness", "c", 7)
		look := func() {
			s, runs := hub.State("c")
			data := drawing.Draw(s, runs)
			if data != nil && leaks(shown(t, data), secret) {
				t.Fatalf("of %q is shown %s", text, data)
			}
		}
		for range rapid.IntRange(1, 3).Draw(t, "attempts") {
			turn.Writes()
			for rest := text; rest != ""; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
				turn.Piece(rest[:n])
				rest = rest[n:]
				if rapid.Bool().Draw(t, "looks") {
					look()
				}
			}
			look()
		}
		turn.Said(text)
		look()
		turn.Step("shop.refund", time.Unix(0, 0))
		look()
		turn.End()
		look()
	})
}

// TestASecretOrAMentionIsHiddenAtEveryCut: the two pieces that it makes, with a look between.
func TestASecretOrAMentionIsHiddenAtEveryCut(t *testing.T) {
	for _, secret := range hidden {
		text := "It is " + secret + ", and that is all.\n"
		for cut := range text {
			drawing := delta.Drawing{}
			first := drawing.Draw(live.State{Turn: 1, Writing: text[:cut]}, true)
			second := drawing.Draw(live.State{Turn: 1, Writing: text}, true)
			for _, data := range [][]byte{first, second} {
				if data != nil && leaks(shown(t, data), secret) {
					t.Errorf("cut at %d, of %q is shown %s", cut, secret, data)
				}
			}
		}
	}
}

// TestADrawingTellsWhatChanges, as the event's data says it, and nothing twice.
func TestADrawingTellsWhatChanges(t *testing.T) {
	drawing := delta.Drawing{HTML: true}
	at := time.Date(2026, 11, 25, 7, 55, 0, 0, time.UTC)
	for i, step := range []struct {
		state live.State
		runs  bool
		want  string
	}{
		{live.State{}, false, ""},
		{live.State{Turn: 7}, true, `{"turn":"7"}`},
		{live.State{Turn: 7}, true, ""},
		{live.State{Turn: 7, Writing: "**Let** me lo"}, true, `{"turn":"7","html":"<p><strong>Let</strong> me</p>"}`},
		{live.State{Turn: 7, Writing: "**Let** me loo"}, true, ""},
		{
			live.State{Turn: 7, Said: []string{"Let me look."}, Tool: "shop.find", Since: at}, true,
			`{"turn":"7","html":"<p>Let me look.</p>","running":{"tool":"shop.find","since":"2026-11-25T07:55:00Z"}}`,
		},
		{
			live.State{Turn: 7, Said: []string{"Let me look."}, Writing: "# It is\nsent ", RetryAt: at}, true,
			`{"turn":"7","html":"<p>Let me look.</p><h3>It is</h3><p>sent</p>","retry_at":"2026-11-25T07:55:00Z"}`,
		},
		{live.State{Turn: 8, Writing: "Another one "}, true, `{"turn":"8","html":"<p>Another one </p>"}`},
		{live.State{}, false, `{"turn":"8","ended":true}`},
		{live.State{}, false, ""},
	} {
		got := plain.Replace(string(drawing.Draw(step.state, step.runs)))
		if got != step.want {
			t.Errorf("step %d tells\n%s, want\n%s", i, got, step.want)
		}
	}
}

// plain takes away what tests need not see of JSON.
var plain = strings.NewReplacer(` dir=\"auto\"`, "", `\u003c`, "<", `\u003e`, ">", `\n`, "")
