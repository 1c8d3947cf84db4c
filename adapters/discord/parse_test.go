package discord_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// nothingToRead is what people read where there is nothing in a message, and the bot needs no further mention.
const nothingToRead = "There is nothing in that message that I can read. Write what you would like."

func TestSpeakerOfAMessage(t *testing.T) {
	r := newInbound(t, setup{}).known()
	if m := r.says(
		r.of(
			r.ann.Says("hello " + r.bob.Mention() +
				" <#3001> <:wave:77> </ask:78> <t:0:R> a<b>c"))); m.Content.String() != "hello @bob #general :wave: "+
		"/ask 1970-01-01 00:00:00 UTC a<b>c" {
		t.Errorf("it says %q", m.Content.String())
	}
	got := r.says(
		r.of(r.ann.Posts(general, r.MentionOfBot()+", add milk for <@&"+r.RoleOfBot(guild)+">"))).Content.String()
	if !strings.HasPrefix(got, `{"name":"ann","id":"discord:1001"} says:`) ||
		!strings.Contains(got, "> add milk for @gatehouse") {
		t.Errorf("it says %q", got)
	}
	e := r.of(r.ann.Posts(general, r.MentionOfBot()))
	if _, err := r.p.Parse(r.ctx, e); core.CategoryOf(err) != core.ChatMessageShapeInvalid ||
		core.MessageOf(err) != nothingToRead {
		t.Errorf("a mention alone gave %v", err)
	}
}

// A message that was stored before a restart is parsed before the first call to Discord, or while Discord can't be
// reached.
func TestBotsMentionIsRemovedWithoutACall(t *testing.T) {
	r := newInbound(t, setup{}).known()
	role := "<@&" + r.RoleOfBot(guild) + ">"
	said := []core.Event{
		r.of(r.ann.Posts(general, r.MentionOfBot()+" add milk")), r.of(r.ann.Posts(general, role+" add milk")),
	}
	r.halt()
	restarted := discord.New(r.deps, r.config)
	for _, e := range said {
		in, err := restarted.Parse(r.ctx, e)
		if err != nil {
			t.Fatal(err)
		}
		if text := in.Message.Content.Own(); text != "add milk" {
			t.Errorf("it says %q", text)
		}
	}
	r.start()
	r.known()
}

func TestAttachments(t *testing.T) {
	r := newInbound(t, setup{}).known()
	e := r.of(r.ann.Says("look", discordtest.WithFiles(
		discordtest.Attachment{Name: "a.png", ContentType: "image/png", Data: picture(t)},
		discordtest.Attachment{Name: "b.txt", ContentType: "text/plain", Data: []byte("words")},
		discordtest.Attachment{Name: "c.png", ContentType: "image/png", Data: []byte("no picture")},
	)))
	m := r.says(e)
	blocks := m.Content.Blocks()
	if len(blocks) != 4 || blocks[2].Type != core.ImageBlock || blocks[2].MediaType != "image/png" ||
		blocks[2].Source == nil {
		t.Fatalf("got %+v", blocks)
	}
	if file := blocks[0].Text; !strings.HasPrefix(file,
		`{"quoted":"file","file":"b.txt","name":"ann","id":"discord:1001",`) ||
		!strings.Contains(file, " contains:\nwords\n[end of file ") {
		t.Errorf("the text file is shown as %q", file)
	}
	if stored, err := r.blobs.Load(t.Context(), blocks[2].Source.Digest); err != nil ||
		!bytes.Equal(stored, picture(t)) {
		t.Errorf("stored are %d bytes (%v)", len(stored), err)
	}
	if text := m.Content.Own(); text != "look\n[attached files that can't be read: c.png (it is something else, or "+
		"the bot may not read it)]" {
		t.Errorf("it says %q", text)
	}
}

// A file's address is valid for a day; a message may wait longer, or be retried later.
func TestExpiredFileLinks(t *testing.T) {
	clock := discordtest.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	r := newInbound(t, setup{fake: discordtest.Options{Now: clock.Now}, discord: core.Deps{Now: clock.Now}}).known()
	png := func(name string) discordtest.Attachment {
		return discordtest.Attachment{Name: name, ContentType: "image/png", Data: picture(t)}
	}
	m := r.ann.Says("look", discordtest.WithFiles(png("a.png"), png("b.png")))
	e := r.of(m)
	clock.Advance(discordtest.LinkLifetime + time.Minute)
	before := r.CountCalls(discordtest.GetMessage)
	if blocks := r.says(e).Content.Blocks(); len(blocks) != 3 || blocks[0].Type != core.ImageBlock ||
		blocks[1].Type != core.ImageBlock || blocks[2].Text != "look" {
		t.Errorf("a day later it says %+v", blocks)
	}
	if n := r.CountCalls(discordtest.GetMessage) - before; n != 1 {
		t.Errorf("the message was read %d times", n)
	}
	r.Inject(discordtest.Fault{Endpoint: discordtest.GetMessage, Trouble: discordtest.ServerError(503), Times: 1})
	if _, err := r.p.Parse(r.ctx, e); core.CategoryOf(err) != core.ProviderUnavailable {
		t.Errorf("while Discord is down Parse gave %v", err)
	}
	r.ann.Deletes(m.Channel, m.ID)
	if text := r.says(e).Content.String(); !strings.Contains(text,
		"a.png (it is not there any more), b.png (it is not there any more)") {
		t.Errorf("once it is deleted it says %q", text)
	}
}

func TestOnlyDiscordsFilesAreFetched(t *testing.T) {
	r := newInbound(t, setup{}).known()
	for _, address := range []string{
		r.ForeignURL(), "https://cdn.discordapp.com.example.org/a.png", "http://cdn.discordapp.com/a.png",
		"https://u@cdn.discordapp.com/a.png", "", "file:///etc/passwd", "%",
	} {
		body, _ := json.Marshal(
			map[string]any{
				"id": "5", "channel_id": "6", "author": map[string]any{"id": "1001"}, "content": "look",
				"attachments": []any{
					map[string]any{"filename": "a.png", "content_type": "image/png", "size": 3, "url": address},
				},
			})
		m := r.says(
			core.Event{
				Platform: "discord", ID: "message/6/5", Body: core.MessageEvent{}, Conversation: "discord:@me:6",
				Payload: body,
			})
		if text := m.Content.String(); !strings.Contains(text, "a.png (it is not kept at Discord)") &&
			!strings.Contains(text, "a.png (") {
			t.Errorf("%q: it says %q", address, text)
		}
	}
	if n := len(r.ForeignRequests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestDownloadsSendNoToken(t *testing.T) {
	r := newInbound(t, setup{}).known()
	e := r.of(
		r.ann.Says("look",
			discordtest.WithFiles(discordtest.Attachment{Name: "a.png", ContentType: "image/png", Data: picture(t)})))
	r.says(e)
	for _, c := range r.Calls() {
		if strings.Contains(c.Path, "/attachments/") && c.Header.Get("Authorization") != "" {
			t.Errorf("the token went along: %+v", c)
		}
	}
}

// TestManyMentionsAreFewNames: of 2,500 people in one message the first 50 are named, and the others stay ids. Discord
// is not asked.
func TestManyMentionsAreFewNames(t *testing.T) {
	r := newInbound(t, setup{}).known()
	var text strings.Builder
	var people []any
	for i := range 2500 {
		id := fmt.Sprint(6_000_000 + i)
		text.WriteString("<@" + id + "> <@!" + id + "> ")
		people = append(people, map[string]any{"id": id, "username": fmt.Sprintf("person%d", i)})
	}
	m := map[string]any{
		"id": "7002", "channel_id": r.DMWith(annID), "type": 0, "content": "ask " + text.String(),
		"author": map[string]any{"id": annID, "username": "ann"}, "mentions": people,
	}
	body, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	e := core.Event{
		Platform: "discord", Conversation: core.ConversationID("discord:@me:" + r.DMWith(annID)),
		Body: core.MessageEvent{}, Payload: body,
	}
	r.registered()
	before := len(r.Calls())
	got := r.says(e).Content.String()
	words := strings.Fields(got)
	if len(words) != 5001 || words[1] != "@person0" || words[2] != "@person0" || words[100] != "@person49" ||
		words[101] != "@6000050" || words[5000] != "@6002499" {
		t.Fatalf("it reads %.1500s…", got)
	}
	if n := len(r.Calls()) - before; n != 0 {
		t.Errorf("Discord was called %d times", n)
	}
}
