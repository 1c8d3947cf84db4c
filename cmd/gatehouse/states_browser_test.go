package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
)

// shop are tools as a shop has them, one of which fails.
const shop = `
version: 1
tools:
  - name: shop.refund
    description: Pays money back.
    risk: write
    arguments:
      type: object
      properties: {amount: {type: number}, to: {type: string}, why: {type: string}, lines: {type: array}}
      required: [amount, to]
    summary: Refund {{amount}} to {{to}}
    command: [echo, Refunded.]
  - name: shop.voucher
    description: Sends a voucher.
    risk: write
    arguments: {type: object, properties: {to: {type: string}}, required: [to]}
    summary: Send a voucher to {{to}}
    command: [echo, Sent.]
  - name: shop.ship
    description: Ships an order.
    risk: write
    arguments: {type: object, properties: {order: {type: integer}}, required: [order]}
    summary: Ship order {{order}}
    command: ["false"]
  - name: shop.close
    description: Closes an account.
    risk: destructive
    arguments: {type: object, properties: {account: {type: string}}, required: [account]}
    summary: Close the account {{account}}
    command: [echo, Closed.]
`

const shopRules = `
version: 1
rules:
  - name: refunds
    tools: [shop.refund]
    when: args.amount >= 100
    action: ask
    approvers: ["openharness:ann", "openharness:bob", "openharness:eve"]
    self: true
    quorum: 2
  - name: vouchers
    tools: [shop.voucher]
    action: ask
    approvers: ["openharness:bob"]
    expires: 1s
  - name: the shop
    tools: ["shop.*"]
    action: ask
    approvers: ["openharness:ann", "openharness:bob"]
    self: true
    edit: true
`

// newShop starts gatehouse for a shop, whose ann, bob and eve have logins.
func newShop(t *testing.T, env ...string) *serveProcess {
	t.Helper()
	tools := filepath.Join(t.TempDir(), "tools.yaml")
	noErr(t, os.WriteFile(tools, []byte(shop), 0o600))
	people := []string{"ann=" + annsToken, "bob!=" + bobsToken, "eve=" + evesToken}
	return newEngine(t, sqliteFile, people, append(env, "GATEHOUSE_TOOLS="+tools,
		"GATEHOUSE_APPROVAL_POLICY="+policyFile(t, shopRules))...)
}

const (
	refund = `{"amount":12.5,"to":"cus_1","why":"The parcel never arrived.","lines":[{"sku":"A-1","count":2}]}`
	large  = `{"amount":1250,"to":"cus_1"}`
)

// TestEachStateOfACard is looked at in the conversation in which it was asked.
func TestEachStateOfACard(t *testing.T) {
	t.Parallel()
	p := newShop(t)
	w := newBrowser(t).newWindow(p.at, "/")
	w.run(chromedp.WaitVisible(chromedp.CSS("input[type=password]")))
	w.inspect("login")
	w.logIn(annsToken)
	in := func(session, text, shows string) {
		t.Helper()
		w.run(chromedp.Navigate(p.at + "/?session=" + session))
		w.shows("Connected")
		w.writes(text)
		w.until("the card of "+session, "document.querySelector('.card')")
		w.shows(shows)
	}
	closed := func(look string) {
		t.Helper()
		w.until("the card is "+look, fmt.Sprintf("document.querySelector('.card.closed[data-look=%s]')", look))
		w.inspect("card-" + look)
	}
	in("open", "call shop.refund "+refund, "Refund 12.5 to cus_1")
	w.inspect("card-open")
	id := string(p.approvals(core.Open)[0].ID)
	p.start(nil, "approvals", "edit", id, "--as", "bob", "--args", `{"amount":21,"to":"cus_1"}`).ok(t)
	w.until("the change", "document.querySelector('.card').innerText.includes('21')")
	w.inspect("card-edited")
	w.press("Approve")
	closed("approved")
	in("dangerous", `call shop.close {"account":"cus_1"}`, "Close the account cus_1")
	w.inspect("card-dangerous")
	w.press("Withdraw")
	closed("cancelled")
	in("denied", "call shop.refund "+refund, "Approval needed")
	w.press("Deny…")
	w.types(reasonField, "Ask the carrier first.")
	w.press("Deny")
	closed("denied")
	in("failed", `call shop.ship {"order":1001}`, "Approval needed")
	w.press("Approve")
	closed("failed")
	in("voted", "call shop.refund "+large, "Approval needed")
	eval[any](w, "document.querySelector('.card button[value=approve]').click()")
	w.until("the vote", "document.querySelector('.card[data-look=voted]')")
	w.inspect("card-voted")
	in("expired", `call shop.voucher {"to":"cus_2"}`, "Send a voucher")
	closed("expired")
	in("choices", `call people.ask {"question":"Which size?","schema":{"enum":["Small","Large"]}}`, "Which size?")
	w.inspect("question-choices")
	w.press("Large")
	closed("answered")
	in("form", "call people.ask "+orderQuestion, "What shall I order?")
	w.inspect("question-form")

	w.run(chromedp.Navigate(p.at + "/?session=answered"))
	w.shows("Connected")
	for n := range 12 {
		w.writes(fmt.Sprintf("calc %d*%d", 100+n, n))
		w.until("the answer", fmt.Sprintf("document.querySelectorAll('.reply').length > %d", n))
	}
	w.inspect("long")
	w.down(true)
	p.app.kill()
	w.shows("Reconnecting")
	w.inspect("lost")
	p.open()
	w.shows("Connected")
	w.inspect("back")
	w.run(chromedp.Navigate(p.at + "/nothing"))
	w.inspect("not-found")
}

// TestTheFirstScreenAndReplies are looked at as a newcomer sees them.
func TestTheFirstScreenAndReplies(t *testing.T) {
	t.Parallel()
	p := newLocal(t)
	w := newBrowser(t).newWindow(p.at, "/")
	w.shows("Connected")
	w.inspect("first")
	echo := newLocal(t, "GATEHOUSE_AGENT=echo")
	w = newBrowser(t).newWindow(echo.at, "/")
	w.shows("Connected")
	w.writes(markdown)
	w.until("the reply", "document.querySelector('.reply .code')")
	w.inspect("markdown")
}

// TestEachKindOfError is looked at: what a person can change, what may pass, and what ends a conversation.
func TestEachKindOfError(t *testing.T) {
	t.Parallel()
	v := vendors["OpenAI"](t)
	p, _ := newModelEngine(t, v)
	w := newBrowser(t).newWindow(p.at, "/")
	w.logIn(annsToken)
	in := func(session string) {
		t.Helper()
		w.run(chromedp.Navigate(p.at + "/?session=" + session))
		w.shows("Connected")
		w.writes("hello")
	}
	w.shows("Connected")
	v.Think(func(llmtest.Received) llmtest.Answer {
		return v.fail(http.StatusBadRequest, "invalid_request_error", "no")
	})
	for _, bucket := range []string{"error-correctable", "error-transient"} {
		in(bucket)
		w.until("the error", "document.querySelector('.item.error')")
		w.inspect(bucket)
		v.Think(func(llmtest.Received) llmtest.Answer {
			return v.fail(http.StatusServiceUnavailable, "server_error", "down")
		})
	}
	release := make(chan struct{})
	defer close(release)
	v.Think(func(llmtest.Received) llmtest.Answer {
		<-release
		return v.say("too late")
	})
	in("error-terminating")
	p.until("the turn runs", p.app, func() bool {
		for _, e := range p.events(core.EventFilter{Waiting: true}) {
			if e.Attempt > 0 {
				return true
			}
		}
		return false
	})
	w.down(true)
	p.app.kill()
	wearOut(t, p.url)
	p.open()
	w.shows("Connected")
	w.until("the error", "document.querySelector('.item.error')")
	w.inspect("error-terminating")
}

// TestTheListOfApprovals is looked at with none, a few and very many.
func TestTheListOfApprovals(t *testing.T) {
	t.Parallel()
	p := newShop(t)
	w := newBrowser(t).newWindow(p.at, "/approvals")
	w.logIn(bobsToken)
	w.shows("Approvals")
	w.inspect("list-0")
	for _, id := range []string{"12.50 to cus_1", "20 to cus_2", "7 to cus_3", "99 to cus_4"} {
		amount, to, _ := strings.Cut(id, " to ")
		p.asks(id, func(a *core.Approval) {
			a.Call.Arguments = []byte(`{"amount":` + amount + `,"to":` + quoted(to) + `}`)
		})
	}
	w.run(chromedp.Reload())
	w.shows("Refund 99 to cus_4")
	w.inspect("list-4")
	openMany(t, p.store, 20_000)
	w.until("a count that keeps its room", "document.getElementById('waiting').innerText === '99+'")
	w.run(chromedp.Reload())
	w.until("the number", `/20[., ]?004/.test(document.body.innerText)`)
	eval[any](w, "scrollTo(0, 0)")
	w.inspect("list-20000")
}

// TestTheListOfVeryManyPaintsSoon: a browser shows the first of 20,000 open approvals within 300 ms, by the median of
// seven times. How fast the machine is, and what else runs on it, decides as much, so only the wide tests have a limit.
func TestTheListOfVeryManyPaintsSoon(t *testing.T) {
	p := newShop(t)
	w := newBrowser(t).newWindow(p.at, "/approvals")
	w.logIn(bobsToken)
	openMany(t, p.store, 20_000)
	w.until("a count that keeps its room", "document.getElementById('waiting').innerText === '99+'")
	var paints, answers []float64
	times := wide(7, 1)
	for range times {
		w.run(chromedp.Reload())
		w.until("the first paint", "performance.getEntriesByName('first-paint').length")
		paints = append(paints, eval[float64](w, "performance.getEntriesByName('first-paint')[0].startTime"))
		answers = append(answers, eval[float64](w, "performance.getEntriesByType('navigation')[0].responseEnd"))
	}
	slices.Sort(paints)
	slices.Sort(answers)
	t.Logf("20,000 open approvals: the page is there after %.0f ms, and its first paint after %.0f ms (%.0f)",
		answers[times/2], paints[times/2], paints)
	if times > 1 && paints[times/2] > 300 {
		t.Errorf("the first paint comes after %.0f ms", paints[times/2])
	}
}
