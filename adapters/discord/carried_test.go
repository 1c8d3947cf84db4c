package discord_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// A forwarded message is read, but is not the person's own words: no command in it counts.
func TestForwardedMessages(t *testing.T) {
	r := newInbound(t, setup{}).known()
	thread, _ := r.inThread()
	said := r.bob.Posts(general, "deploy on "+r.ann.Mention(), discordtest.WithFiles(
		discordtest.Attachment{Name: "a.png", ContentType: "image/png", Data: picture(t)}, discordtest.Attachment{Name: "plan.txt", ContentType: "text/plain", Data: []byte("x")},
	))
	for name, channel := range map[string]string{"directly": r.DMWith(annID), "in a thread": thread} {
		e := r.of(r.ann.Forwards(general, said.ID, channel))
		content := r.says(e).Content
		blocks := content.Blocks()
		if len(blocks) != 4 || blocks[3].Type != core.ImageBlock {
			t.Fatalf("%s: got %+v", name, blocks)
		}
		if text := blocks[0].Text; !strings.HasPrefix(text, `{"quoted":"forwarded message from #general","at":"`) ||
			!strings.HasSuffix(text, "\"} wrote:\n> deploy on @ann\n> [file] a.png\n> [file] plan.txt") {
			t.Errorf("%s it quotes %q", name, text)
		}
		if text := blocks[1].Text; !strings.HasPrefix(text, `{"quoted":"file","file":"plan.txt","end":`) {
			t.Errorf("%s it has the file %q", name, text)
		}
		if speaker, ok := content.Speaker(); !ok || speaker.Name != "ann" || content.Own() != "" {
			t.Errorf("%s %+v says %q", name, speaker, content.Own())
		}
	}
	stop := r.bob.Posts(general, "!stop")
	if e := r.of(r.ann.Forwards(general, stop.ID, r.DMWith(annID))); e.Kind() != core.KindMessage {
		t.Errorf("a forwarded word is taken as %s", e.Kind())
	}
	if m := r.bob.Forwards(general, said.ID, general); r.has(key(m)) {
		t.Error("a forward in a channel is for the bot")
	} else {
		r.none(m)
	}
}

// A picture in a message that was forwarded long ago is fetched by a new address.
func TestExpiredLinksOfForwardedFiles(t *testing.T) {
	r := newInbound(t, setup{}).known()
	said := r.bob.Posts(general, "look", discordtest.WithFiles(discordtest.Attachment{Name: "a.png", ContentType: "image/png", Data: picture(t)}))
	e := r.of(r.ann.Forwards(general, said.ID, r.DMWith(annID)))
	r.Inject(discordtest.Fault{Endpoint: discordtest.Download, Trouble: discordtest.Refused(404, 0, "gone"), Times: 1})
	if blocks := r.says(e).Content.Blocks(); len(blocks) != 3 || blocks[2].Type != core.ImageBlock {
		t.Errorf("got %+v", blocks)
	}
}
