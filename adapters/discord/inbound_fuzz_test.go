package discord_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord"
	"gatehouse/core"
)

// me is the bot of the fuzz tests.
const me = "900"

// unconnected is a platform without a Discord that answers.
func unconnected(t testing.TB) *discord.Discord {
	p := discord.New(core.Deps{
		Signer: adaptertest.Signer(t, testKey), Cards: adaptertest.Cards(),
		Blobs: &adaptertest.Blobs{},
		KV:    newFakeKV(nil), Owner: "one", Log: slog.New(slog.DiscardHandler),
	}, discord.Config{BotToken: "t", APIURL: "http://127.0.0.1:1/api/v10", Shards: 1, Reply: "thread"})
	p.SetIdentity(me)
	return p
}

// fuzzEvents processes arbitrary data as a kind of event: every event that is stored is complete and can be parsed.
func fuzzEvents(f *testing.F, kind string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	p := unconnected(f)
	p.Take(context.Background(),
		"GUILD_CREATE",
		[]byte(
			`{"id":"2","channels":[{"id":"3","type":0}],"threads":[{"id":"4",`+
				`"type":11,"parent_id":"3"}],"roles":[{"id":"7","tags":{"bot_id":"900"}}]}`),
		nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing is looked up
		p.Take(ctx, kind, data, func(_ context.Context, e core.Event) (core.Receipt, error) {
			byPlatform := e.Kind() == core.KindAmend && e.Actor.ID == ""
			if e.Platform != address.Platform || e.ID == "" || strings.HasSuffix(e.ID, "/") || e.Conversation == "" ||
				e.Kind() == "" ||
				!byPlatform && (e.Actor.ID == "discord:" || !strings.HasPrefix(e.Actor.ID, "discord:")) {
				t.Errorf("%q came as %+v", data, e)
			}
			if e.Kind() == core.KindMessage {
				in, err := p.Parse(ctx, e)
				if err == nil && in.Message == nil {
					t.Errorf("Parse of %q gave nothing", data)
				}
			}
			return core.Receipt{Seq: 1, Fresh: true}, nil
		})
	})
}

const byAnn = `"author":{"id":"1","username":"ann"},"type":0`

func FuzzMessage(f *testing.F) {
	fuzzEvents(f, "MESSAGE_CREATE",
		`{"id":"5","channel_id":"6",`+byAnn+`,"content":"hello"}`,
		`{"id":"5","channel_id":"3","guild_id":"2",`+byAnn+`,"content":"<@900> !new","mentions":[{"id":"900"}]}`,
		`{"id":"5","channel_id":"3","guild_id":"2",`+byAnn+
			`,"content":"<@&7> hello","mention_roles":["7"],"member":{"nick":"Ann"}}`,
		`{"id":"5","channel_id":"4","guild_id":"2",`+byAnn+
			`,"content":"more","attachments":[{"filename":"a","url":"https://example.org"}]}`,
		`{"id":"5","channel_id":"3","guild_id":"2","author":{"id":"1"},"type":19,"content":"what",`+
			`"referenced_message":{"author":{"id":"900","bot":true}}}`,
		`{"id":"5","channel_id":"99","guild_id":"2",`+byAnn+`,"content":"<@900>"}`, `{}`, `null`, `[`,
		`{"id":"5","channel_id":"6",`+byAnn+
			`,"message_reference":{"type":1,"channel_id":"3"},`+
			`"message_snapshots":[{"message":{"content":"<#3>","embeds":[{"title":"t"}]}}]}`,
		`{"id":"5","channel_id":"6",`+byAnn+
			`,"sticker_items":[{"name":"s"}],"poll":{"question":{"text":"q"},"answers":[{"poll_media":{"text":"a"}}]}}`,
		`{"id":"5","channel_id":"6",`+byAnn+
			`,"components":[{"type":17,"components":[{"content":"c"}],"accessory":{"label":"l"}}],"flags":8192}`,
	)
}

func FuzzChange(f *testing.F) {
	fuzzEvents(f, "MESSAGE_UPDATE",
		`{"id":"5","channel_id":"6",`+byAnn+`,"content":"hello <@1>","edited_timestamp":"2026-11-21T12:00:00+00:00"}`,
		`{}`, `null`, `[`)
}

func FuzzDeletion(f *testing.F) {
	fuzzEvents(f, "MESSAGE_DELETE", `{"id":"5","channel_id":"6"}`, `{}`, `null`, `[`)
}

func FuzzBulkDeletion(f *testing.F) {
	fuzzEvents(f, "MESSAGE_DELETE_BULK", `{"ids":["5","x"],"channel_id":"6"}`, `{}`, `null`, `[`)
}

func FuzzGuild(f *testing.F) {
	fuzzEvents(f, "GUILD_CREATE",
		`{"id":"2","channels":[{"id":"3","type":0}],"threads":[],"roles":[{"id":"7","tags":{"bot_id":"900"}}]}`,
		`{"roles":[null]}`, `{}`, `null`, `[`)
}

func FuzzThread(f *testing.F) {
	fuzzEvents(f, "THREAD_CREATE", `{"id":"4","type":11,"parent_id":"3","guild_id":"2"}`, `{}`, `null`, `[`)
}

func FuzzInteraction(f *testing.F) {
	s := adaptertest.Signer(f, testKey)
	press := func(kind, value string) string {
		return `{"id":"8","application_id":"` + me + `","type":` + kind +
			`,"token":"t","guild_id":"2","channel_id":"4",` +
			`"channel":{"type":11,"parent_id":"3"},"member":{"user":{"id":"1"}},` +
			`"message":{"id":"5"},"data":{"custom_id":"` + value +
			`","components":[{"type":18,"component":{"value":"why"}}]}}`
	}
	fuzzEvents(f, "INTERACTION_CREATE",
		press("3", s.Seal("a1", "approve")), press("3", s.Seal("again", "17", "discord:2:4")),
		press("5", s.Seal("a1", "reason")), press("5", s.Seal("a1", "confirm")),
		press("3", "x"),
		`{"id":"8","type":2,"channel_id":"3","user":{"id":"1"},"data":{"name":"ask",`+
			`"options":[{"name":"text","value":"why"}]}}`,
		`{"id":"8","type":2,"channel_id":"3","user":{"id":"1"},"data":{"name":"ask",`+
			`"options":[{"name":"text","value":5}]}}`,
		`{"type":1}`, `{}`, `null`, `[`,
	)
}
