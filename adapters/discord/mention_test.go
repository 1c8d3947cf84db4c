package discord_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
)

// In code a mention is none, unless Discord lists it.
func TestMentionsInCode(t *testing.T) {
	r := newInbound(t, setup{}).known()
	me, role := r.MentionOfBot(), "<@&"+r.RoleOfBot(guild)+">"
	for _, text := range []string{
		"write `" + me + " help` to get help", "`" + me + "`", "``a ` " + me + "``", "```\n" + me + " !stop\n```",
		"see\n```go\n" + me + "```\nmore", "```\n``" + me + "``\n```",
		"`" + role + " help`", "> `" + me + "`", "`a` and `" + me + "` and `b`", "`a``" + me + "``b",
	} {
		r.none(r.ann.Posts(general, text))
	}
	for _, text := range []string{
		me + " what is `" + me + "`?", "`code` " + me + " hello", "`" + me, "\\`" + me + "\\`",
		"a ``` b " + me, "`a` " + role + " `b`", "```\ncode\n```" + me,
	} {
		r.of(r.ann.Posts(general, text))
	}
	said := r.botPosts(general, "hello")
	e := r.of(r.ann.Replies(general, said, "`"+me+" help` does what?"))
	if got := r.says(e).Content.Own(); got != "`"+me+" help` does what?" {
		t.Errorf("code reads %q", got)
	}
	if got := r.says(r.of(r.ann.Posts(general, me+" `<@1002>` is <@1002>"))).Content.Own(); got != "`<@1002>` is @bob" {
		t.Errorf("it reads %q", got)
	}
}

// Channels that are mentioned are named, in quotations too. Discord is asked once for those that are not known.
func TestNamesOfChannels(t *testing.T) {
	r := newInbound(t, setup{}).known()
	r.settled() // what is added now is not in the session
	r.AddChannel(discordtest.Channel{ID: "3002", Guild: guild, Name: "billing"})
	r.AddChannel(discordtest.Channel{ID: "3003", Guild: guild, Name: "secret"})
	r.DenyBot("3003", discordtest.ViewChannel)
	r.AddGuild(discordtest.Guild{ID: "2002", Name: "another", Members: []string{bobID}})
	r.AddChannel(discordtest.Channel{ID: "3004", Guild: "2002", Name: "elsewhere"})
	const unseen = " (a channel that the bot can't see)"
	said := r.bob.Posts(general, "see <#3002> and <#3003>")
	for n := range 2 {
		question := r.MentionOfBot() + " what is in <#3001>, <#3002>, <#3003>, <#3004>, <#3005>?"
		e := r.of(r.ann.Replies(general, said.ID, question))
		in, err := r.p.Parse(r.ctx, e)
		if err != nil || in.Fetched != (n == 0) {
			t.Fatalf("got %+v, %v", in, err)
		}
		blocks := in.Message.Content.Blocks()
		if want := "\n> see #billing and #3003" + unseen; !strings.HasSuffix(blocks[0].Text, want) {
			t.Errorf("it quotes %q", blocks[0].Text)
		}
		want := "what is in #general, #billing, #3003" + unseen + ", #3004" + unseen + ", #3005" + unseen + "?"
		if got := in.Message.Content.Own(); got != want {
			t.Errorf("it reads %q", got)
		}
		if n := r.CountCalls("GET /channels/{channel}"); n != 4 {
			t.Errorf("Discord was asked %d times", n)
		}
	}
	forwarded := r.bob.Posts("3004", "for all", discordtest.WithoutEvent())
	got := r.asks(r.ann.Forwards("3004", forwarded.ID, r.DMWith(annID)))
	if !strings.HasPrefix(got[0], `{"quoted":"forwarded message from #elsewhere",`) {
		t.Errorf("a forward reads %q", got)
	}

	var many strings.Builder
	for i := range 60 {
		many.WriteString(" <#" + "900" + string(rune('0'+i/10)) + string(rune('0'+i%10)) + ">")
	}
	asked := r.CountCalls("GET /channels/{channel}")
	r.says(r.of(r.ann.Says(many.String())))
	if n := r.CountCalls("GET /channels/{channel}") - asked; n != 15 {
		t.Errorf("Discord was asked %d times for 60 channels", n)
	}
	late := discordtest.RateLimited(time.Hour, discordtest.ScopeUser)
	r.Inject(discordtest.Fault{Endpoint: "GET /channels/{channel}", Trouble: late, Times: 1})
	if m := r.says(r.of(r.ann.Says("see <#9100>"))); m.Content.String() != "see #9100" {
		t.Errorf("while Discord can't be asked it reads %q", m.Content)
	}
}
