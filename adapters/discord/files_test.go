package discord

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/discord/internal/address"
	"gatehouse/core"
)

// TestCodeThatNoFenceHoldsIsAttached as files that the text names.
func TestCodeThatNoFenceHoldsIsAttached(t *testing.T) {
	const text = "Use:\n\n````markdown\n# T\n```sh\nls\n```\n````\n\nand\n\n~~~\n\n```\n~~~\n"
	w := newRig(t, nil)
	at := core.Address{Platform: address.Platform, Channel: general}
	w.say(answerTo("reply/1", text, at))
	m := w.FromBot(general)[0]
	if m.Content != "Use:\n(see code-1.md)\nand\n(see code-2.txt)" || len(m.Attachments) != 2 ||
		string(m.Attachments[0].Data) != "# T\n```sh\nls\n```\n" || string(m.Attachments[1].Data) != "\n```\n" {
		t.Errorf("%q with %+v", m.Content, m.Attachments)
	}
}

// TestCodeIsTextWhereNoFileMayBeAttached: Discord refuses the file, or has refused one there before; nothing of the
// code is lost.
func TestCodeIsTextWhereNoFileMayBeAttached(t *testing.T) {
	const text = "Use:\n\n````markdown\n# T\n```sh\nls *.go >  x[0]\n  - @me " +
		"https://x.example/a_b\n```\n````\n\nand\n\n~~~\n\n```\n~~~\n"
	w := newRig(t, nil)
	at := core.Address{Platform: address.Platform, Channel: general}
	w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.MissesPermissions(), Times: 1})
	begun := w.d.Now()
	for n, calls := range []int{2, 3, 5} { // at first, known to be missing, and tried again later
		if n == 2 {
			later := w.d.Now().Add(filelessTime)
			w.d.Now = func() time.Time { return later }
			w.Inject(
				discordtest.Fault{
					Endpoint: discordtest.CreateMessage, Trouble: discordtest.MissesPermissions(), Times: 1,
				})
		}
		d := answerTo(fmt.Sprint("reply/", n), text, at)
		ref := w.say(d)[0]
		m := w.FromBot(general)[n]
		if len(m.Attachments) != 0 || w.CountCalls(discordtest.CreateMessage) != calls {
			t.Errorf("%d: %+v after %d calls", n, m.Attachments, w.CountCalls(discordtest.CreateMessage))
		}
		if parts, err := w.d.parts(d); err != nil || m.Content != strings.TrimSpace(parts[0].Plain) || m.Content == "" {
			t.Errorf("%d: it says %q", n, m.Content)
		}
		d.SentAt = begun
		if found, err := w.d.Find(w.ctx(), d); err != nil || found.Ref != ref {
			t.Errorf("%d: found %+v, %v", n, found, err)
		}
	}
}
