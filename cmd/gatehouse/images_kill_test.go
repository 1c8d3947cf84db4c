package main

import (
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// TestLaw1_ImagesSurviveAKillAtEachStep kills the process around the commit of an image and of the message that it
// belongs to. The message is answered once, its image can be read, and it goes with the session.
func TestLaw1_ImagesSurviveAKillAtEachStep(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		for _, point := range []string{"PutBlob.before", "PutBlob.after", "Finish.before", "Finish.after"} {
			t.Run(point, func(t *testing.T) {
				t.Parallel()
				p := newSlackProcessOn(t, e, "GATEHOUSE_AGENT=echo")
				p.open(armed(point, 1, "")...)
				file := slacktest.File{Name: "cat.png", Content: []byte("\x89PNG\x0d\x0a\x1a\x0a and a cat")}
				p.ann.Says("look", slacktest.WithFiles(file))
				p.untilRestarting("the kill", p.app.gone)
				p.untilRestarting("the answer", func() bool { return p.slack.CountFromBot() > 0 && p.settled() })
				if n := p.slack.CountFromBot(); n != 1 {
					t.Errorf("it was answered %d times:\n%s", n, p.slack.Dump())
				}
				p.app.kill()
				sessions, err := p.store.ListSessions(t.Context(), core.SessionFilter{})
				if err != nil || len(sessions) != 1 {
					t.Fatalf("the sessions are %+v (%v)", sessions, err)
				}
				rec, err := p.store.LoadSession(t.Context(), sessions[0].ID, core.Writer{})
				noErr(t, err)
				msgs, err := rec.Messages.From(t.Context(), 0)
				if err != nil || len(msgs) != 2 || len(msgs[0].StoredImages()) != 1 {
					t.Fatalf("the messages are %+v (%v)", msgs, err)
				}
				digest := msgs[0].StoredImages()[0]
				if data, err := p.store.LoadBlob(t.Context(), digest); err != nil ||
					string(data) != string(file.Content) {
					t.Errorf("the image is %q (%v)", data, err)
				}
				noErr(t, p.store.DeleteSession(t.Context(), sessions[0].ID))
				if _, err := p.store.LoadBlob(t.Context(), digest); core.CategoryOf(err) != core.NotFound {
					t.Errorf("after the session was deleted: %v", err)
				}
			})
		}
	})
}
