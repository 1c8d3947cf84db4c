package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/question"
)

// asks makes an approval a question.
func asks(t *testing.T, text, schema string) func(*core.Approval) {
	t.Helper()
	q, err := question.New(text, json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return func(a *core.Approval) { a.Question, a.Call.Summary = &q, text }
}

const orderForm = `{"type":"object","properties":{
	"size":{"enum":["s","m"],"title":"Size"},
	"count":{"type":"integer","minimum":1,"maximum":9},
	"gift":{"type":"boolean","description":"Wrap it"},
	"note":{"type":"string","minLength":2,"maxLength":8},
	"story":{"type":"string"}},"required":["size","count"]}`

func TestAQuestionIsAnsweredByAButton(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("q1", asks(t, "Which?", `{"oneOf":[{"const":"a"},{"const":"b","title":"<Bee>"}]}`))
	expect(t, s.get("bob", "/approvals"), http.StatusOK, "Question from the bot", "Which?")
	for _, page := range []string{"/approvals/q1"} {
		expect(t, s.get("bob", page), http.StatusOK, "Question from the bot", ", for ", "Which?",
			`name="choice" value="answer"`, `name="field-0" value="2">&lt;Bee&gt;</button>`, "!May answer", "!Approve",
			"!Deny", "!<dt>Tool", "!Withdraw")
		expect(t, s.get("ann", page), http.StatusOK, "This question is for somebody else.", ">Withdraw<",
			"!value=\"answer\"")
	}
	w := s.post("bob", "/approvals/q1", "choice=answer", "field-0=2")
	expect(t, w, http.StatusSeeOther)
	if a.State != core.Answered || string(a.Answer()) != `"b"` || s.decided != 1 {
		t.Fatalf("%+v, told %d times", a, s.decided)
	}
	expect(t, s.get("bob", w.Header().Get("Location")), http.StatusOK,
		"This was answered by bob at 2026-11-22 12:00 UTC.", "answered by you", "&lt;Bee&gt;")
	expect(t, s.get("ann", "/approvals/q1"), http.StatusOK,
		"<dt>Answer</dt><dd dir=\"auto\">&lt;Bee&gt;</dd>", "!name=\"choice\"")
	expect(t, s.post("bob", "/approvals/q1", "choice=answer", "field-0=1"), http.StatusConflict, `role="alert"`,
		"This was answered by bob")
}

func TestAFormIsRefusedAndKeepsWhatWasTyped(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("q1", asks(t, "What shall I order?", orderForm))
	expect(t, s.get("bob", "/approvals/q1"), http.StatusOK, "<legend>Size</legend>", `type="number"`,
		`step="1" min="1" max="9" required`, `<textarea`, "2 to 8 characters.", "A whole number from 1 to 9.",
		">Wrap it<", "(optional)")
	w := s.post("bob", "/approvals/q1", "choice=answer", "field-0=2", "field-1=12", "field-2=1", "field-3=x",
		"field-4=a <long> story")
	expect(t, w, http.StatusUnprocessableEntity, `role="alert"`, "Nothing has been sent yet.",
		"This must be 9 or less.", "This needs 2 characters or more, and has 1.", `value="12"`, "a &lt;long&gt; story",
		`name="field-0" value="2" checked`, `<option value="1" selected>Yes`, `aria-invalid="true"`)
	if a.State != core.Open || s.decided != 0 {
		t.Fatalf("%+v", a)
	}
	expect(t, s.post("bob", "/approvals/q1", "choice=answer", "field-0=7", "field-1="), http.StatusUnprocessableEntity,
		"Choose one of the options.", "This is required.")
	expect(t,
		s.post("bob", "/approvals/q1", "choice=answer", "field-0=2", "field-1=3", "field-2=", "field-3=",
			"field-4=one\r\ntwo"), http.StatusSeeOther)
	if got, want := string(a.Answer()), `{"size":"m","count":3,"story":"one\ntwo"}`; got != want {
		t.Errorf("the answer is %s, want %s", got, want)
	}
}

func TestWhoMayNotAnswerIsRefused(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("q1", asks(t, "Which?", `{"enum":["a","b"]}`))
	expect(t, s.post("ann", "/approvals/q1", "choice=answer", "field-0=1"), http.StatusForbidden,
		"This question is for somebody else.")
	expect(t, s.post("bob", "/approvals/q1", "choice=approve", "edits=0"), http.StatusBadRequest,
		"This is a question, so it can be answered")
	expect(t, s.post("bob", "/approvals/q1", "choice=withdraw", "edits=0"), http.StatusForbidden)
	if a.State != core.Open {
		t.Fatalf("%+v", a)
	}
	expect(t, s.post("ann", "/approvals/q1", "choice=withdraw", "edits=0"), http.StatusSeeOther)
	expect(t, s.post("bob", "/approvals/q1", "choice=answer", "field-0=1"), http.StatusConflict, "This was cancelled")
	b := s.desk.open("q2", asks(t, "Which?", `{"enum":["a","b"]}`), decidedBy(core.Expired, "bob"))
	expect(t, s.post("bob", "/approvals/q2", "choice=answer", "field-0=1"), http.StatusConflict,
		"This question expired at")
	if b.State != core.Expired {
		t.Errorf("%+v", b)
	}
	s.desk.open("a1")
	expect(t, s.post("bob", "/approvals/a1", "choice=answer", "field-0=1"), http.StatusBadRequest,
		"This button does not fit the card any more, so nothing was done.")
}

func TestALongQuestionIsShownWhole(t *testing.T) {
	s := newSite(t)
	text := "First line\n" + strings.Repeat("many words ", 30) + "and the end"
	s.desk.open("q1", asks(t, text, ""))
	expect(t, s.get("bob", "/approvals/q1"), http.StatusOK, "First line many words", "…</h1>", "First line\nmany words",
		"and the end", "<textarea", ">Your answer</label>")
	long := strings.Repeat("ü", 3000) // of 18000 bytes in a form
	expect(t, s.post("bob", "/approvals/q1", "choice=answer", "field-0="+long+"x"), http.StatusUnprocessableEntity,
		"the limit is 3000", long)
	expect(t, s.post("bob", "/approvals/q1", "choice=answer", "field-0="+long), http.StatusSeeOther)
}

func TestTheSecretsOfAQuestionAreMasked(t *testing.T) {
	s := newSite(t)
	const secret = "sk-0123456789abcdef0123456789abcdef"
	a := s.desk.open("q1", asks(t, "Use "+secret+"?", `{"enum":["`+secret+`","other"]}`))
	expect(t, s.get("bob", "/approvals"), http.StatusOK, "!"+secret, "other")
	expect(t, s.post("bob", "/approvals/q1", "choice=answer", "field-0=9"), http.StatusUnprocessableEntity, "!"+secret)
	expect(t, s.post("bob", "/approvals/q1", "choice=answer", "field-0=1"), http.StatusSeeOther)
	if string(a.Answer()) != `"`+secret+`"` {
		t.Errorf("the answer is %s", a.Answer())
	}
	expect(t, s.get("bob", "/approvals/q1"), http.StatusOK, "!"+secret)
}
