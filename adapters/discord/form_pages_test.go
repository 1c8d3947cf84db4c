package discord_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// asks makes a card one of a question with a schema.
func asks(t *testing.T, schema string) func(*core.Card) {
	q, err := question.New("Which one?\nSay it *now*.", json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *core.Card) { c.Question, c.Quorum = &q, 1 }
}

// asked posts the card of a question, and returns its message.
func (r *inbound) asked(p *pressable) discordtest.Message {
	r.t.Helper()
	d := core.Delivery{Post: core.Post{
		Key: "card/a1", Kind: core.PostCard, Approval: "a1", To: p.card.From, Conversation: p.card.Conversation,
	}, Card: &p.card}
	ref, _, err := r.p.Post(r.ctx, d)
	if err != nil {
		r.t.Fatal(err)
	}
	_, id, _ := strings.Cut(string(ref), "/")
	m, ok := r.Message(general, id)
	if !ok {
		r.t.Fatal("there is no card")
	}
	return m
}

// form waits for the form that bob has open.
func (r *inbound) form(i *discordtest.Interaction) discordtest.Modal {
	r.t.Helper()
	r.answered(i, discordtest.ShowModal)
	m, ok := r.Modal(bobID)
	if !ok {
		r.t.Fatal("no form is open")
	}
	return m
}

func TestAnOptionIsAnsweredByOnePress(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		press  func(r *inbound, card discordtest.Message) *discordtest.Interaction
		option int
	}{
		"button": {`{"enum":["a","b"]}`, func(r *inbound, card discordtest.Message) *discordtest.Interaction {
			return r.bob.Clicks(general, card.ID, "b")
		}, 2},
		"yes or no": {`{"type":"boolean"}`, func(r *inbound, card discordtest.Message) *discordtest.Interaction {
			return r.bob.Clicks(general, card.ID, "No")
		}, 2},
		"menu": {
			`{"enum":["a","b","c","d","e","f"]}`, func(r *inbound, card discordtest.Message) *discordtest.Interaction {
				return r.bob.Chooses(general, card.ID, "e")
			}, 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPressable(asks(t, c.schema))
			onBoth(t, setup{discord: p.options()}, func(t *testing.T, r *inbound) {
				card := r.asked(p)
				if text := card.Shown(); !strings.Contains(text, "> Which one?\n> Say it \\*now\\*.") ||
					!strings.Contains(text, "[Withdraw]") || strings.Contains(text, "Approve") {
					t.Errorf("bob sees %s", text)
				}
				i := c.press(r, card)
				e := r.more(0)
				r.answered(i, discordtest.Update)
				if got, want := r.click(e),
					(core.Click{
						Approval: "a1", Choice: core.Answer, Option: c.option, Card: core.Ref(general + "/" + card.ID),
						Disabled: true,
					}); got != want {
					t.Errorf("Parse gave %+v, want %+v", got, want)
				}
				shown, _ := i.Shown()
				off := !slices.ContainsFunc(shown.Buttons(), func(b discordtest.Button) bool { return !b.Disabled })
				if !off || slices.ContainsFunc(shown.Menus(), func(m discordtest.Menu) bool { return !m.Disabled }) {
					t.Errorf("not all is disabled: %s", shown.Shown())
				}
			})
		})
	}
}

// formOf is the schema of a form with seven fields, of each kind.
const formOf = `{"type":"object","properties":{
	"size":{"type":"string","enum":["s","m"],"enumNames":["Small","Medium"],"title":"Size"},
	"count":{"type":"integer","minimum":1,"maximum":9},
	"price":{"type":"number"},"gift":{"type":"boolean"},
	"note":{"type":"string","minLength":2,"maxLength":200},
	"name":{"type":"string","maxLength":20},"why":{"type":"string"}},
	"required":["size","count","name"]}`

func TestAFormHasPages(t *testing.T) {
	p := newPressable(asks(t, formOf))
	onBoth(t, setup{discord: p.options()}, func(t *testing.T, r *inbound) {
		card := r.asked(p)
		first := r.form(r.bob.Clicks(general, card.ID, "Answer"))
		if first.Title != "Answer (page 1 of 2)" || len(first.Inputs) != 5 || len(first.Inputs[0].Options) != 2 ||
			first.Inputs[1].Hint != "A number from 1 to 9" || first.Inputs[4].Min != 2 {
			t.Errorf("bob sees %+v", first)
		}
		one := map[string]string{"Size": "Medium", "count": "many", "gift": "Yes"}
		wrong := r.bob.Submits(one)
		r.answered(wrong, discordtest.Reply)
		said, _ := wrong.Shown()
		if said.Ephemeral != bobID || !strings.Contains(said.Content, "count: this must be a number") ||
			len(said.Buttons()) != 1 {
			t.Errorf("bob sees %s", said.Shown())
		}
		again := r.form(r.bob.Presses(said.Buttons()[0]))
		if again.Inputs[0].Value != "2" || again.Inputs[1].Value != "many" || again.Inputs[3].Value != "1" ||
			again.Inputs[2].Value != "" {
			t.Errorf("what was filled in is lost: %+v", again.Inputs)
		}
		next := r.bob.Submits(map[string]string{"count": "3", "note": "a \"<b>\""})
		r.answered(next, discordtest.Update)
		said, _ = next.Shown()
		if !strings.Contains(said.Content, "Page 1 of 2") || len(said.Buttons()) != 1 ||
			said.Buttons()[0].Label != "Continue" {
			t.Errorf("bob sees %s", said.Shown())
		}
		second := r.form(r.bob.Presses(said.Buttons()[0]))
		if second.Title != "Answer (page 2 of 2)" || len(second.Inputs) != 2 {
			t.Errorf("bob sees %+v", second)
		}
		if ids := r.inbox.IDs(); len(ids) != 0 {
			t.Errorf("stored: %v", ids)
		}
		last := r.bob.Submits(map[string]string{"name": "Bo", "why": "it\nrains"})
		e := r.more(0)
		r.answered(last, discordtest.Update)
		said, _ = last.Shown()
		if said.Content != "Your answer is sent." || len(said.Buttons()) != 0 || said.Ephemeral != bobID {
			t.Errorf("bob sees %s", said.Shown())
		}
		want := core.Click{
			Approval: "a1", Choice: core.Answer,
			Answer: `{"size":"m","count":3,"gift":true,"note":"a \"\u003cb\u003e\"","name":"Bo","why":"it\nrains"}`,
		}
		if got := r.click(e); got != want || e.Actor.ID != "discord:"+bobID || e.Subject() != "a1" {
			t.Errorf("Parse gave %+v, want %+v", got, want)
		}
	})
}

// TestAFormOfOnePageDisablesItsCard, since its answer is sent from the card.
func TestAFormOfOnePageDisablesItsCard(t *testing.T) {
	p := newPressable(asks(t, `{"type":"string"}`))
	r := newInbound(t, setup{discord: p.options()}).known()
	card := r.asked(p)
	r.form(r.bob.Clicks(general, card.ID, "Answer"))
	i := r.bob.Submits(map[string]string{"Your answer": "4"})
	r.answered(i, discordtest.Update)
	if shown, _ := i.Shown(); shown.ID != card.ID || !shown.Buttons()[0].Disabled {
		t.Errorf("bob sees %s", shown.Shown())
	}
	want := core.Click{
		Approval: "a1", Choice: core.Answer, Answer: `"4"`, Card: core.Ref(general + "/" + card.ID), Disabled: true,
	}
	if got := r.click(r.more(0)); got != want {
		t.Errorf("Parse gave %+v, want %+v", got, want)
	}
}

// TestWhatWasFilledInIsKeptForOnePersonAndQuestion, for a while: without the pages before it, no page is answered.
func TestWhatWasFilledInIsKeptForOnePersonAndQuestion(t *testing.T) {
	p := newPressable(func(c *core.Card) {
		asks(t, formOf)(c)
		c.Approvers = append(c.Approvers, "discord:"+annID)
		c.Self = true
	})
	r := newInbound(t, setup{discord: p.options()}).known()
	card := r.asked(p)
	r.form(r.bob.Clicks(general, card.ID, "Answer"))
	next := r.bob.Submits(map[string]string{"Size": "Small", "count": "3", "note": "secret"})
	r.answered(next, discordtest.Reply)
	said, _ := next.Shown()
	second := r.form(r.bob.Presses(said.Buttons()[0]))

	r.answered(r.ann.Clicks(general, card.ID, "Answer"), discordtest.ShowModal)
	if m, _ := r.Modal(annID); m.Inputs[4].Value != "" {
		t.Errorf("ann sees %+v", m.Inputs)
	}
	r.ann.Dismisses()
	second.User, second.Message = annID, card.ID
	lost := r.ann.SubmitsAgain(second, map[string]string{"name": "Ann"})
	r.answered(lost, discordtest.Reply)
	if m, _ := lost.Shown(); !strings.Contains(m.Content, "is gone, so nothing was answered") || m.Ephemeral != annID {
		t.Errorf("ann sees %s", m.Shown())
	}
	if ids := r.inbox.IDs(); len(ids) != 0 {
		t.Errorf("stored: %v", ids)
	}
	r.kv.mu.Lock()
	maps.DeleteFunc(r.kv.values, func(name, _ string) bool { return strings.HasPrefix(name, "discord/answer/") })
	r.kv.mu.Unlock()
	r.answered(r.bob.Presses(said.Buttons()[0]), discordtest.Update)
	if m := r.Ephemerals(general, bobID)[0]; !strings.Contains(m.Content, "Press Answer to start again") ||
		m.Buttons()[0].Label != "Answer" {
		t.Errorf("bob sees %s", m.Shown())
	}
}

// TestWhoMayNotAnswerGetsNoForm but the reason, at once, and so does who submits one too late; nothing is stored.
func TestWhoMayNotAnswerGetsNoForm(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*core.Card)
		want   string
	}{
		"a stranger": {func(c *core.Card) {
			c.Approvers = []string{"discord:1"}
		}, "This question is for somebody else."},
		"answered": {func(c *core.Card) { c.State, c.DecidedBy = core.Answered, "Cid" }, "This was answered by Cid"},
		"expired":  {func(c *core.Card) { c.State = core.Expired }, "This question expired"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPressable(asks(t, formOf))
			r := newInbound(t, setup{discord: p.options()}).known()
			card := r.asked(p)
			form := r.form(r.bob.Clicks(general, card.ID, "Answer"))
			p.mu.Lock()
			c.change(&p.card)
			p.mu.Unlock()
			for _, i := range []*discordtest.Interaction{
				r.bob.Clicks(general, card.ID, "Answer"),
				r.bob.SubmitsAgain(form, map[string]string{"Size": "Small", "count": "3"}),
			} {
				r.answered(i, discordtest.Reply)
				if m, _ := i.Shown(); !strings.Contains(m.Content, c.want) || m.Ephemeral != bobID {
					t.Errorf("bob sees %q", m.Content)
				}
			}
			if ids := r.inbox.IDs(); len(ids) != 0 {
				t.Errorf("stored: %v", ids)
			}
		})
	}
}

// TestAQuestionIsNotDecided and an approval not answered, whatever button was sealed.
func TestAQuestionIsNotDecided(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*core.Card)
		actions []string
	}{
		"question": {asks(t, formOf), []string{"reason", "confirm", "edit", "arguments"}},
		"approval": {nil, []string{"answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newInbound(t, setup{discord: newPressable(c.change).options()}).known()
			for _, action := range c.actions {
				i := r.bob.Presses(r.button(general, r.sealed("a1", action)))
				r.answered(i, discordtest.Reply)
				if m, _ := i.Shown(); m.Content != wording.BuiltIn.PressMisfit {
					t.Errorf("%s: bob sees %q", action, m.Content)
				}
			}
		})
	}
}

// TestStoredDecisionsAreRead: decisions of an earlier gatehouse, as it stored them. What Discord sends has no field for
// an answer.
func TestStoredDecisionsAreRead(t *testing.T) {
	p := newPressable(asks(t, formOf))
	r := newInbound(t, setup{discord: p.options()}).known()
	adaptertest.StoredClicks(t, r.p, "testdata/stored.json")
	value := r.sealed("a1", "answer")
	for name, payload := range map[string]string{
		"no answer": `{"type":5,"id":"900","user":{"id":"` + bobID + `"},"data":{"custom_id":"` + value + `"}}`,
		"no option": `{"type":3,"id":"900","user":{"id":"` + bobID + `"},"data":{"custom_id":"` + value + `"}}`,
		"another option": `{"type":3,"id":"900","user":{"id":"` + bobID + `"},"data":{"custom_id":"` + value +
			`","values":["x"]}}`,
	} {
		e := core.Event{
			Platform: address.Platform, ID: "vote/a1/1/1", Body: core.ClickEvent{Approval: "a1"},
			Payload: json.RawMessage(payload),
		}
		if _, err := r.p.OldClick(e); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	body := `{"id":"900","application_id":"` + r.ApplicationID() + `","type":5,"token":"x","channel_id":"` + general +
		`","user":{"id":"` + bobID + `"},"gatehouse_answer":"{}",` +
		`"data":{"custom_id":"` + value +
		`","components":[{"type":18,"component":{"custom_id":"field-0",` +
		`"values":["9"]}},{"type":18,"component":{"custom_id":"field-99","value":"1"}}]}}`
	discord.New(r.deps, r.config).Take(r.ctx, "INTERACTION_CREATE", []byte(body), r.inbox.Accept)
	if ids := r.inbox.IDs(); len(ids) != 0 {
		t.Errorf("stored: %v", ids)
	}
}
