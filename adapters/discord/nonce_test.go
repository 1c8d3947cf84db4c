package discord

import (
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// A send that Discord knows by its nonce gives the message as it was sent first. Where something was decided since, it is redrawn.
func TestACardThatWasDecidedBeforeItsSecondSend(t *testing.T) {
	w := newTown(t, nil)
	to := core.Address{Platform: Name, Channel: general}
	d := core.Delivery{Post: core.Post{Key: "card/1", Kind: core.PostCard, Approval: "ap-1", To: to}, Card: testCard(nil)}
	w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.AnswerLost(), Times: 1})
	if _, _, err := w.d.Post(w.ctx(), d); core.CategoryOf(err) != core.DeliveryInDoubt {
		t.Fatalf("%v", err)
	}
	d.Card = testCard(func(c *core.Card) { c.State, c.DecidedAt = core.Approved, adaptertest.Noon })
	ref := w.say(d)[0]
	said := w.FromBot(general)
	if len(said) != 1 || ref != refOf(general, said[0].ID) || len(said[0].Buttons()) != 0 || !strings.Contains(said[0].Content, "✅ Approved") {
		t.Errorf("%q names none of\n%s", ref, w.Dump())
	}
	w.say(core.Delivery{Post: core.Post{Key: "card/2", Kind: core.PostCard, Approval: "ap-1", To: to}, Card: d.Card})
	w.say(answerTo("reply/1", "  spaces around it \n\n", to))
	if n := w.CountCalls(discordtest.EditMessage); n != 1 {
		t.Errorf("%d messages were redrawn, want the first alone", n)
	}
	w.nobodyIsCalled()
}
