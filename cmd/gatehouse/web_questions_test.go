package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"gatehouse/core"
)

const (
	abQuestion    = `{"question":"Which?","schema":{"oneOf":[{"const":"a"},{"const":"b","title":"Bee"}]}}`
	orderQuestion = `{"question":"What shall I order?","schema":{"type":"object","properties":{"size":{"enum":["s",` +
		`"m"],"title":"Size"},` +
		`"count":{"type":"integer","minimum":1,"maximum":9,"description":"How many"},"gift":{"type":"boolean"},` +
		`"note":{"type":"string","minLength":2,"maxLength":8},` +
		`"story":{"type":"string","title":"Story"}},"required":["size","count"]}}`
)

// answering adds an answer in dev.gatehouse's extensions to a request: under "answer" as JSON, under "typed" what was
// typed into a form.
func answering(m map[string]any, key string, value any) map[string]any {
	m["request"].(map[string]any)["extensions"] = map[string]any{"dev.gatehouse": map[string]any{key: value}}
	return m
}

// says fails unless one of the messages of an answer has a text.
func says(t *testing.T, r reply, text string) {
	t.Helper()
	if !strings.Contains(strings.Join(r.texts(), "\n"), text) {
		t.Errorf("%q is not in %s", text, r.Raw)
	}
}

// TestLaw7_AShellAnswersByAnOption, after a restart, once: a second answer, another principal's and a forged one are
// refused without a difference.
func TestLaw7_AShellAnswersByAnOption(t *testing.T) {
	t.Parallel()
	p, ann, bob, _ := newTrio(t)
	asked := ann.must(ann.send(request("r1", "s1", "call people.ask "+abQuestion)))
	says(t, asked, "Which?\n1. a\n2. Bee")
	card := asked.card()
	b := card.choice("option-2")
	if b.Token == "" || card.choice("approve").Token != "" || card.own().Answer.Token == "" {
		t.Fatalf("the question came with %s", asked.Raw)
	}
	p.app.kill()
	p.open()
	forged := b
	forged.Token = "ctok_forged" + forged.Token[11:]
	bob.refused(bob.send(with(request("f1", "s1", ""), b)), http.StatusConflict, "continuation_invalid")
	ann.refused(ann.send(with(request("f2", "s1", ""), forged)), http.StatusConflict, "continuation_invalid")
	ann.refused(ann.send(with(request("f3", "s2", ""), b)), http.StatusConflict, "continuation_invalid")
	got := ann.must(ann.send(with(request("r2", "s1", ""), b)))
	says(t, got, `ann answered: "b"`)
	again := ann.must(ann.send(with(request("r2", "s1", ""), b)))
	says(t, again, `ann answered: "b"`)
	ann.refused(ann.send(with(request("r3", "s1", ""), card.choice("option-1"))), http.StatusConflict,
		"continuation_invalid")
}

// TestAShellAnswersWithAValue: as JSON, as what was typed into a form, and as a message beside the continuation. What
// does not fit uses nothing up.
func TestAShellAnswersWithAValue(t *testing.T) {
	t.Parallel()
	_, ann, _, _ := newTrio(t)
	id := 0
	ask := func(question string) continuation {
		t.Helper()
		id++
		return ann.must(ann.send(request(fmt.Sprint("q", id), "s1", "call people.ask "+question))).card().own().Answer
	}
	send := func(c continuation, intent, key string, value any) reply {
		t.Helper()
		id++
		m := with(request(fmt.Sprint("a", id), "s1", intent), c)
		if key != "" {
			m = answering(m, key, value)
		}
		return ann.send(m)
	}
	form := ask(orderQuestion)
	for text, value := range map[string]any{
		"count: this must be 9 or less":                map[string]any{"size": "m", "count": 10},
		"Size is missing":                              map[string]any{"count": 3},
		`there is no field "other"`:                    map[string]any{"size": "m", "count": 3, "other": 1},
		"the answer must be a JSON object":             "m",
		"note: this needs 2 characters or more, and h": map[string]any{"size": "m", "count": 3, "note": "x"},
	} {
		r := ann.refused(send(form, "", "answer", value), http.StatusBadRequest, "invalid_request")
		if got := r.Answer.Response.Error.Message; !strings.Contains(got, text) {
			t.Errorf("%v is refused with %q, not %q", value, got, text)
		}
	}
	ann.refused(send(form, "", "", nil), http.StatusBadRequest, "invalid_request")
	ann.refused(send(form, "", "typed", []any{"2", 3}), http.StatusBadRequest, "invalid_request")
	says(t, ann.must(send(form, "", "answer", map[string]any{"size": "m", "count": 3})),
		`ann answered: {"size":"m","count":3}`)
	says(t, ann.must(send(ask(orderQuestion), "", "typed", []any{"1", "4", "2", "", "one\ntwo"})),
		`ann answered: {"size":"s","count":4,"gift":false,"story":"one\ntwo"}`)
	says(t, ann.must(send(ask(abQuestion), "bee", "", nil)), `ann answered: "b"`)
	says(t, ann.must(send(ask(`{"question":"How much?","schema":{"type":"number"}}`), "2.50", "", nil)),
		"ann answered: 2.50")
	says(t, ann.must(send(ask(`{"question":"Why?"}`), "y", "", nil)), `ann answered: "y"`)
}

// TestAQuestionThatExpiredIsToldSo: the turn goes on without an answer, and its tokens say why they can't be used.
func TestAQuestionThatExpiredIsToldSo(t *testing.T) {
	t.Parallel()
	p, ann, _, _ := newTrio(t)
	card := ann.must(
		ann.send(
			request("r1", "s1",
				`call people.ask {"question":"Which?","schema":{"enum":["a","b"]},"expires":"1s"}`))).card()
	p.until("it expired", p.app, func() bool { return len(p.approvals(core.Expired)) == 1 })
	ann.refused(ann.send(with(request("r2", "s1", ""), card.choice("option-1"))), http.StatusConflict,
		"continuation_expired")
	ann.header.Set("Prefer", "wait=20")
	says(t, ann.must(ann.send(with(request("r3", "s1", ""), card.own().Status))), "Nobody answered in time.")
}

// TestABrowserAnswersInTheChat: by a button, and by a form whose answer is refused first. A restart loses neither the
// question nor what was typed.
func TestABrowserAnswersInTheChat(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	w := b.newWindow(p.at, "/")
	w.shows("Connected")
	w.say("call people.ask " + abQuestion)
	w.press("Bee")
	w.shows(`answered: "b"`)
	w.until("the question is answered",
		"document.querySelector('.card.closed') && !document.querySelector('.card button')")

	w.say("call people.ask " + orderQuestion)
	w.shows("What shall I order?")
	w.down(true)
	w.run(chromedp.SendKeys(chromedp.CSS(".answer textarea"), "a long story"),
		chromedp.SendKeys(chromedp.CSS(".answer input[type=text]"), "x"),
		chromedp.SendKeys(chromedp.CSS(".answer input[type=number]"), "3"))
	eval[any](w, "document.querySelectorAll('.answer input[type=radio]')[1].click()")
	p.app.kill()
	w.shows("Reconnecting")
	p.open()
	w.shows("Connected")
	w.press("Answer")
	w.shows("note: this needs 2 characters or more, and has 1")
	if typed := eval[string](w, "document.querySelector('.answer textarea').value"); typed != "a long story" {
		t.Errorf("after a refusal the form has %q", typed)
	}
	eval[any](w, "document.querySelector('.answer input[type=text]').value = 'xy'")
	w.press("Answer")
	w.shows(`answered: {"size":"m","count":3,"note":"xy","story":"a long story"}`)
}

// TestABrowserAnswersOnThePageOfApprovals: a form that is refused keeps what was typed; who answers second is told who
// was first.
func TestABrowserAnswersOnThePageOfApprovals(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	p := newLocal(t)
	chat := b.newWindow(p.at, "/")
	chat.shows("Connected")
	chat.say("call people.ask " + orderQuestion)
	asked := func() bool { return len(p.approvals(core.Open)) == 1 }
	p.until("the question is asked", p.app, asked)
	w := b.newWindow(p.at, "/approvals")
	w.opens("What shall I order?")
	w.until("the form", "document.querySelector('.answer textarea')")
	w.down(true) // a refusal's status is an error in the browser's log
	w.run(chromedp.SendKeys(chromedp.CSS(".answer textarea"), "a long story"),
		chromedp.SendKeys(chromedp.CSS(".answer input[type=text]"), "x"),
		chromedp.SendKeys(chromedp.CSS(".answer input[type=number]"), "3"))
	eval[any](w, "document.querySelectorAll('.answer input[type=radio]')[1].click()")
	w.press("Answer")
	w.shows("This needs 2 characters or more, and has 1.")
	if typed := eval[string](w,
		"document.querySelector('.answer textarea').value + document.querySelector('.answer "+
			"input:checked').value"); typed != "a long story2" {
		t.Errorf("after a refusal the form has %q", typed)
	}
	eval[any](w, "document.querySelector('.answer input[type=text]').value = 'xy'")
	w.press("Answer")
	w.shows("This was answered by")
	chat.shows(`answered: {"size":"m","count":3,"note":"xy","story":"a long story"}`)

	chat.say("call people.ask " + abQuestion)
	p.until("the next question is asked", p.app, asked)
	w.run(chromedp.Navigate(p.at + "/approvals"))
	w.opens("Which?")
	w.until("the buttons", "document.querySelector('.answer button')")
	p.start(nil, "approvals", "answer", string(p.approvals(core.Open)[0].ID), "--json", `"a"`, "--as", "Bob").ok(t)
	w.press("Bee")
	w.shows("This was answered by Bob (local-admin)")
	chat.shows(`Bob (local-admin) answered: "a"`)
}
