package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// discordModel is a gateway on a fake Discord whose agent asks a fake vendor.
type discordModel struct {
	*discordGateway
	fakeVendor
}

func newDiscordModel(t *testing.T, o discordtest.Options, env map[string]string) discordModel {
	t.Helper()
	v := vendors["OpenAI"](t)
	all := map[string]string{}
	for _, more := range []map[string]string{v.env, env} {
		for key, value := range more {
			all[key] = value
		}
	}
	return discordModel{serveDiscord(t, o, all), v}
}

// asked is what the model is asked, its texts one after the other, once the bot has answered a message.
func (d discordModel) asked(post func() discordtest.Message) (m discordtest.Message, text string) {
	d.t.Helper()
	answer := fmt.Sprintf("Answer %d.", len(d.Calls())+1)
	d.Then(d.say(answer))
	m = post()
	where := m.Channel
	if m.Guild != "" {
		where = m.ID // the thread has the message's id
	}
	d.reads(where, answer)
	return m, lastAsked(d.t, d.lastBody())
}

// lastAsked returns the texts, and the kinds of other parts, of the last message in a request to OpenAI's chat API.
func lastAsked(t *testing.T, body string) string {
	t.Helper()
	var request struct {
		Messages []struct{ Content any }
	}
	if err := json.Unmarshal([]byte(body), &request); err != nil || len(request.Messages) == 0 {
		t.Fatalf("%v: %s", err, body)
	}
	content := request.Messages[len(request.Messages)-1].Content
	parts, ok := content.([]any)
	if !ok {
		return content.(string)
	}
	var all []string
	for _, part := range parts {
		one := part.(map[string]any)
		text, isText := one["text"].(string)
		if !isText {
			text = "(" + one["type"].(string) + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

const annSays = `{"name":"Ann","id":"discord:1001"} says:`

// TestDiscordMessagesFromTheField: what people were not understood with elsewhere.
func TestDiscordMessagesFromTheField(t *testing.T) {
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no messages from the field were tried. Set GATEHOUSE_FIXTURES to the folder that holds field.")
	}
	d := newDiscordModel(t, discordtest.Options{}, nil)
	paste := strings.Repeat("a line of the log, 29 bytes.\n", 100)
	picture := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x04\x00\x00\x00\x04\x08\x06"
	files := map[string]string{
		"82": d.discord.AddFile("message.txt", "text/plain; charset=utf-8", []byte(paste)),
		"83": d.discord.AddFile("shot.png", "", []byte(picture)),
	}
	for name, want := range map[string]string{
		"D01b": `{"quoted":"forwarded message","at":"2026-11-24T00:00:00Z"} wrote:` +
			"\n> [embed] Build 812 failed\n> step deploy: exit 1\n> branch: main\n" + annSays,
		"D01d": `{"quoted":"forwarded message","at":"2026-11-24T00:00:00Z"} wrote:` +
			"\n> [sticker] thumbs\n" + annSays,
		"D02a": `{"quoted":"sticker","name":"Ann","id":"discord:1001"} wrote:` + "\n> Wave hello\n" + annSays,
		"D03a": `{"quoted":"poll","name":"Ann","id":"discord:1001"} wrote:` +
			"\n> Deploy on Friday?\n> 1. yes\n> 2. no\n" + annSays,
		"D05a": ` contains:` + "\n" + paste + "\n[end of file ",
		"D06":  "(image_url)\nwhat is this?",
		"D07a": `{"quoted":"message replied to","name":"Bob","id":"discord:1002"} wrote:` +
			"\n> The invoice 4711 is wrong, sum is 12 instead of 21\n" + annSays + "\n> is that right?",
	} {
		m := fixtureOf(t, root, name)
		for _, a := range m["attachments"].([]any) {
			one := a.(map[string]any)
			one["url"] = files[one["id"].(string)]
		}
		channel, _ := m["channel_id"].(string)
		if channel != channelID {
			channel = d.discord.DMWith(askerID)
			m["channel_id"] = channel
		}
		content, _ := m["content"].(string)
		_, text := d.asked(func() discordtest.Message { return d.ann.Posts(channel, content, discordtest.SentAs(m)) })
		if !strings.Contains(text, want) {
			t.Errorf("%s: the model is asked\n%s\nwant\n%s", name, text, want)
		}
	}

	m := fixtureOf(t, root, "D09a")
	posts, asked := len(d.discord.Messages(channelID)), len(d.Calls())
	d.ann.Posts(channelID, m["content"].(string), discordtest.SentAs(m))
	d.asked(func() discordtest.Message { return d.ann.Says("are you there?") }) // later, and on the same connection
	_, opened := d.discord.Channel(m["id"].(string))
	if opened || len(d.discord.Messages(channelID)) != posts+1 || len(d.Calls()) != asked+1 {
		t.Errorf("a mention in code is answered: %s", d.discord.Dump())
	}
}

// fixtureOf reads a message of the field.
func fixtureOf(t *testing.T, root, name string) (m map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "field", "discord", name+".json"))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	noErr(t, err)
	return m
}

// TestDiscordWhatIsQuotedDecidesNothing: words of a decision and control words that are forwarded, voted on or sent as
// a sticker do nothing to a request, and neither does a person's own word in a reply to its card.
func TestDiscordWhatIsQuotedDecidesNothing(t *testing.T) {
	t.Parallel()
	d := serveDiscord(t, discordtest.Options{}, nil)
	ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" note add milk")
	card := d.card(ask.ID, "Add “milk” to the note book.")
	posts := func() int { return len(d.discord.Messages(ask.ID)) }
	answered := func(what string, post func()) string {
		before := posts()
		post()
		waitUntil(t, func() bool { return posts() >= before+2 }, "an answer to "+what)
		all := d.discord.Messages(ask.ID)
		return all[len(all)-1].Shown()
	}
	for _, word := range []string{"approve", "!stop", "!cancel", "note add beer"} {
		said := d.eve.Posts(channelID, word)
		poll := map[string]any{"poll": map[string]any{"question": map[string]any{"text": word}}}
		for what, post := range map[string]func(){
			"a forwarded " + word: func() { d.bob.Forwards(channelID, said.ID, ask.ID) },
			"a sticker " + word: func() {
				d.bob.Posts(ask.ID,
					"", discordtest.SentAs(map[string]any{"sticker_items": []any{map[string]any{"name": word}}}))
			},
			"a poll on " + word: func() { d.bob.Posts(ask.ID, "", discordtest.SentAs(poll)) },
			"a file named " + word: func() {
				file := discordtest.Attachment{Name: word, ContentType: "text/plain", Data: []byte(word)}
				d.bob.Posts(ask.ID, "", discordtest.WithFiles(file))
			},
		} {
			if text := answered(what, post); !strings.Contains(text, "did not understand that") {
				t.Errorf("%s is answered with:\n%s", what, text)
			}
		}
	}
	text := answered("a reply", func() { d.bob.Replies(ask.ID, card.ID, "approve") })
	if !strings.Contains(text, "Only the buttons decide") {
		t.Errorf("a word in a reply to the card is answered with:\n%s", text)
	}
	d.bob.Clicks(ask.ID, card.ID, "Approve")
	d.reads(ask.ID, "Done: “milk” is in the note book.")
}
