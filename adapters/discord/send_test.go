package discord

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

func TestMentionIsAnsweredInAThread(t *testing.T) {
	w := newRig(t, nil)
	to := w.asked("what is <@1002> doing?\nTell me")
	w.say(answerTo("reply/1", "Hello @everyone <@1002> <@&"+approvers+">", to))
	w.say(
		answerTo("reply/2",
			"And more", core.Address{Platform: address.Platform, Channel: general, Thread: to.Thread, Message: "1"}))
	thread, ok := w.Channel(to.Thread)
	if !ok || thread.Name != "what is doing? Tell me" || thread.Parent != general {
		t.Fatalf("%+v, %v", thread, ok)
	}
	said := w.FromBot(to.Thread)
	if len(said) != 2 || !strings.HasPrefix(said[0].Content, "Hello @\u200beveryone") || said[0].Everyone ||
		len(said[0].Mentions)+len(said[0].Roles) > 0 {
		t.Errorf("%+v", said)
	}
	if n := w.CountCalls(discordtest.StartThread); n != 1 {
		t.Errorf("the thread was opened %d times", n)
	}
	if len(w.FromBot(general)) != 0 {
		t.Error("something stands in the channel")
	}
	w.checkNoPings()
}

func TestExistingThreadIsUsed(t *testing.T) {
	w := newRig(t, nil)
	to := w.asked("hello")
	w.bob.OpensThread(general, to.Message, "bob was faster")
	w.say(answerTo("reply/1", "Hello", to))
	if len(w.FromBot(to.Thread)) != 1 {
		t.Error(w.Dump())
	}
}

func TestReplyInChannelIfNoThreadCanBeOpened(t *testing.T) {
	w := newRig(t, nil)
	w.DenyBot(general, discordtest.CreatePublicThreads)
	to := w.asked("hello")
	text, _ := longAnswer()
	w.say(answerTo("reply/1", text[:5000], to))
	said := w.FromBot(general)
	if len(said) < 3 || said[0].ReplyTo != to.Message || said[2].ReplyTo != to.Message || len(said[0].Mentions) > 0 {
		t.Errorf("%+v", said)
	}
	if n := w.CountCalls(discordtest.StartThread); n != 1 {
		t.Errorf("%d tries", n)
	}
	w.checkNoPings()
}

func TestReplyInChannelIfTheMessageWasDeleted(t *testing.T) {
	w := newRig(t, nil)
	to := w.asked("hello")
	w.alice.Deletes(general, to.Message)
	w.say(answerTo("reply/1", "Hello", to))
	if said := w.FromBot(general); len(said) != 1 || said[0].ReplyTo != "" {
		t.Errorf("%+v", said)
	}
}

func TestLongReplyArrivesWhole(t *testing.T) {
	w := newRig(t, nil)
	to := core.Address{Platform: address.Platform, Channel: w.DMWith("1001")}
	text, lines := longAnswer()
	w.say(answerTo("reply/1", text, to))
	var messages []string
	for _, m := range w.FromBot(to.Channel) {
		messages = append(messages, m.Content)
	}
	if len(text) < 60_000 || len(messages) < 30 {
		t.Fatalf("%d bytes in %d messages", len(text), len(messages))
	}
	checkLong(t, messages, lines)
	w.checkNoPings()
}

func TestEditRemovesTheButtons(t *testing.T) {
	w := newRig(t, nil)
	to := core.Address{Platform: address.Platform, Channel: general}
	d := core.Delivery{
		Post: core.Post{Key: "card/1", Kind: core.PostCard, Approval: "ap-1", To: to}, Card: rigSamples.Card(nil),
	}
	ref := w.say(d)[0]
	if said := w.FromBot(general); len(said) != 1 || len(said[0].Buttons()) != 3 {
		t.Fatalf("%+v", said)
	}
	d.Card = rigSamples.Card(func(c *core.Card) { c.State, c.DecidedAt = core.Approved, adaptertest.Noon })
	if err := w.d.Edit(w.ctx(), ref, d); err != nil {
		t.Fatal(err)
	}
	said := w.FromBot(general)
	if len(said) != 1 || len(said[0].Buttons()) != 0 || !strings.Contains(said[0].Shown(), "✅ Approved") ||
		said[0].Edits != 1 {
		t.Errorf("%+v", said)
	}
	w.checkNoPings()
}

// A card can be decided for months; its thread is archived long before that.
func TestCardInAnArchivedThreadIsEdited(t *testing.T) {
	w := newRig(t, nil)
	to := w.asked("add milk")
	d := core.Delivery{
		Post: core.Post{Key: "card/1", Kind: core.PostCard, Approval: "ap-1", To: to}, Card: rigSamples.Card(nil),
	}
	ref := w.say(d)[0]
	w.ArchiveThread(to.Thread, false)
	d.Card = rigSamples.Card(func(c *core.Card) { c.State = core.Expired })
	if err := w.d.Edit(w.ctx(), ref, d); err != nil {
		t.Fatal(err)
	}
	if said := w.FromBot(to.Thread); !strings.Contains(said[0].Shown(), "Expired") {
		t.Error(w.Dump())
	}
	w.ArchiveThread(to.Thread, true)
	if err := w.d.Edit(w.ctx(), ref, d); core.CategoryOf(err) == "" || core.CategoryOf(err) == core.DeliveryLater {
		t.Errorf("in a locked thread: %v", err)
	}
}

func TestForeignReferencesAreRefused(t *testing.T) {
	w := newRig(t, nil)
	for _, ref := range []core.Ref{"", "C1/1.2", "1", "1/..", "../2"} {
		if err := w.d.Edit(w.ctx(), ref,
			answerTo("reply/1", "x", core.Address{})); core.CategoryOf(err) != core.DeliveryFailed {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if len(w.Calls()) != 0 {
		t.Errorf("Discord was asked: %v", w.Calls())
	}
}

func TestPrivateNoticeIsSeenByItsPersonOnly(t *testing.T) {
	w := newRig(t, nil)
	d := core.Delivery{Post: core.Post{
		Key: "private/1", Kind: core.PostPrivate, Text: "You may not.", Person: "discord:1001",
		To: core.Address{Platform: address.Platform, Channel: general},
	}}
	w.say(d) // there is no interaction to answer
	if said := w.FromBot(w.DMWith("1001")); len(said) != 1 || !strings.HasPrefix(said[0].Content, "You may not.") {
		t.Error(w.Dump())
	}
	d.Key, d.To = "private/2", w.pressedWith(address.PressPrefix, "5", "gone")
	w.say(d)
	if said := w.FromBot(w.DMWith("1001")); len(said) != 2 {
		t.Error(w.Dump())
	}
	d.Key, d.Person = "private/3", "slack:U1"
	if _, _, err := w.d.Post(w.ctx(), d); core.CategoryOf(err) != core.DeliveryFailed {
		t.Errorf("%v", err)
	}
	if _, err := w.d.Find(w.ctx(), d); core.CategoryOf(err) != core.DeliveryInDoubt {
		t.Errorf("%v", err)
	}
}

func TestRefusalsOfAPost(t *testing.T) {
	for name, c := range map[string]struct {
		trouble discordtest.Trouble
		want    core.Category
	}{
		"rate limit":     {discordtest.RateLimited(2*time.Second, discordtest.ScopeUser), core.DeliveryLater},
		"shared limit":   {discordtest.RateLimited(2*time.Second, discordtest.ScopeShared), core.DeliveryLater},
		"global limit":   {discordtest.RateLimited(2*time.Second, discordtest.ScopeGlobal), core.DeliveryLater},
		"proxy":          {discordtest.RateLimitedByProxy(2 * time.Second), core.DeliveryLater},
		"the token":      {discordtest.Unauthorized(), core.DeliveryLater}, // it can be mended
		"no view":        {discordtest.MissesAccess(), core.DeliveryForbidden},
		"no permission":  {discordtest.MissesPermissions(), core.DeliveryForbidden},
		"broken down":    {discordtest.ServerError(503), core.DeliveryInDoubt},
		"lost":           {discordtest.AnswerLost(), core.DeliveryInDoubt},
		"garbled":        {fakeserver.Garbled(), core.DeliveryInDoubt},
		"never answered": {discordtest.Cut(), core.DeliveryInDoubt},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, nil)
			w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: c.trouble, Times: 1})
			d := answerTo("reply/1", "hello", core.Address{Platform: address.Platform, Channel: general})
			_, _, err := w.d.Post(w.ctx(), d)
			if core.CategoryOf(err) != c.want {
				t.Errorf("%v", err)
			}
			if wait := w.waits(d); (wait > 0) != strings.Contains(name, "limit") && name != "proxy" {
				t.Errorf("then it waits for %s", wait)
			}
			other := answerTo("reply/2", "hello", core.Address{Platform: address.Platform, Channel: secret})
			if wait := w.waits(other); (wait > 0) != (name == "global limit" || name == "proxy") {
				t.Errorf("another channel waits for %s", wait)
			}
		})
	}
}

// Once a removed permission is granted again, the answer goes to its thread.
func TestThreadIsOpenedOnceThePermissionReturns(t *testing.T) {
	w := newRig(t, nil)
	to := w.asked("hello")
	refused := []*discordtest.Injected{
		w.Inject(discordtest.Fault{Endpoint: discordtest.StartThread, Trouble: discordtest.MissesPermissions()}),
		w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.MissesAccess()}),
	}
	d := answerTo("reply/1", "x", to)
	for range 2 {
		if _, _, err := w.d.Post(w.ctx(), d); core.CategoryOf(err) != core.DeliveryForbidden ||
			!strings.Contains(core.MessageOf(err), "View Channel") {
			t.Errorf("%v", err)
		}
	}
	for _, one := range refused {
		one.Lift()
	}
	w.say(d)
	if len(w.FromBot(to.Thread)) != 1 {
		t.Error(w.Dump())
	}
}

// Repeatedly refused posts wait longer once half of the refusals allowed in ten minutes are used up.
func TestRepeatedRefusalsWaitLonger(t *testing.T) {
	w := newRig(t, nil)
	w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.MissesAccess()})
	d := answerTo("reply/1", "x", core.Address{Platform: address.Platform, Channel: general})
	for i := range rest.MaxInvalid / 2 {
		w.clock.Advance(time.Second)
		_, _, err := w.d.Post(w.ctx(), d)
		if wait, last := core.RetryAfterOf(err),
			i+1 == rest.MaxInvalid/2; core.CategoryOf(err) != core.DeliveryForbidden ||
			(wait == rest.InvalidWindow) != last {
			t.Fatalf("the refusal %d waits for %s: %v", i+1, wait, err)
		}
	}
}

func TestFailedThreadOpeningIsRetried(t *testing.T) {
	w := newRig(t, nil)
	to := w.asked("hello")
	w.Inject(discordtest.Fault{Endpoint: discordtest.StartThread, Trouble: discordtest.AnswerLost(), Times: 1})
	if _, _, err := w.d.Post(w.ctx(), answerTo("reply/1", "x", to)); core.CategoryOf(err) != core.DeliveryLater {
		t.Fatalf("%v", err)
	}
	w.say(answerTo("reply/1", "x", to))
	if len(w.FromBot(to.Thread)) != 1 {
		t.Error(w.Dump())
	}
}

func TestPostsKeepDiscordsRateLimits(t *testing.T) {
	w := newRig(t, func(o *discordtest.Options) { o.Limits = discordtest.DiscordLimits() })
	to := core.Address{Platform: address.Platform, Channel: general}
	sent, waited := 0, 0
	for i := range 20 {
		d := answerTo("reply/"+strings.Repeat("i", i), "hello", to)
		if w.waits(d) > 0 {
			waited++
		} else {
			sent++
		}
	}
	if sent != 5 || waited != 15 {
		t.Errorf("%d sent, %d wait", sent, waited)
	}
	for _, c := range w.Calls() {
		if c.Status == http.StatusTooManyRequests {
			t.Errorf("Discord had to say it: %s", c.Route)
		}
	}
}

func TestNonceIsUniquePerPart(t *testing.T) {
	d := newRig(t, nil).d
	seen := map[string]bool{}
	for _, key := range []string{"reply/1", "reply/2"} {
		for part := range 3 {
			one := core.Delivery{Post: core.Post{Key: key}, Part: part}
			n := d.nonce(one)
			if n == "" || len(n) > draw.MaxNonce || seen[n] || n != d.nonce(one) {
				t.Errorf("%s#%d: %q", key, part, n)
			}
			seen[n] = true
		}
	}
}

// longAnswer returns a reply with a lot of code, and its lines of code.
func longAnswer() (text string, lines []string) {
	var b strings.Builder
	for i := 0; b.Len() < 60_000; i++ {
		fmt.Fprintf(&b, "## Chapter %d\n\nSome words.\n\n- an item\n  - another\n\n```go\n", i)
		for j := range 60 {
			line := fmt.Sprintf("\tx%d := values[%d] // chapter %d", j, j, i)
			lines = append(lines, line)
			b.WriteString(line + "\n")
		}
		b.WriteString("```\n\n")
	}
	return b.String(), lines
}

// checkLong checks that each line of code is there once, in order, and that the fences match in each message.
func checkLong(t *testing.T, messages, lines []string) {
	t.Helper()
	at := 0
	for n, m := range messages {
		if safetext.Units(m) > draw.MaxContent {
			t.Fatalf("message %d has %d units", n, safetext.Units(m))
		}
		open := false
		for _, line := range strings.Split(m, "\n") {
			switch {
			case strings.HasPrefix(line, "```"):
				open = !open
			case at < len(lines) && line == lines[at]:
				if !open {
					t.Fatalf("line %d stands outside the fences of message %d", at, n)
				}
				at++
			}
		}
		if open {
			t.Fatalf("message %d leaves a fence open:\n%s", n, m)
		}
	}
	if at != len(lines) {
		t.Fatalf("%d of %d lines of code are there", at, len(lines))
	}
}
