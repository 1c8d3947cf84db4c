package openharness

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// serve answers a request message.
func (e *Engine) serve(w http.ResponseWriter, r *http.Request, accept core.Accept) {
	who, err := e.admit(w, r, http.MethodPost)
	if err != nil {
		e.writeRefusal(w, wire.Request{}, err)
		return
	}
	leave, err := e.limits.enter(who, false)
	if err != nil {
		e.writeRefusal(w, wire.Request{}, err)
		return
	}
	defer leave()
	body, err := e.readBody(w, r)
	if err != nil {
		e.writeRefusal(w, wire.Request{}, err)
		return
	}
	q, fault := wire.Decode(body, wire.Limits{Intent: e.MaxMessage})
	if fault != nil {
		e.writeRefusal(w, q, fault)
		return
	}
	c := &call{Engine: e, who: who, request: q, accept: accept, mailbox: conversationOf(who, q.Session, q.Conversation), html: wantsHTML(r)}
	a, err := c.answer(w, r)
	if err != nil {
		e.writeRefusal(w, q, err)
		return
	}
	write(w, http.StatusOK, a)
}

// admit says who sends a request, of this method.
func (e *Engine) admit(w http.ResponseWriter, r *http.Request, method string) (access.Person, error) {
	who, err := e.Gate.Identify(r)
	if err != nil {
		return access.Person{}, err
	}
	if r.Method != method {
		w.Header().Set("Allow", method)
		return access.Person{}, refuse(http.StatusMethodNotAllowed, codeMethod, "Only "+method+" is served at this address.")
	}
	return who, e.Gate.SameSite(r)
}

// elsewhere answers requests to addresses that are nothing.
func (e *Engine) elsewhere(w http.ResponseWriter, _ *http.Request) {
	e.writeRefusal(w, wire.Request{}, refuse(http.StatusNotFound, codeNotFound, "There is nothing at this address. Requests go to "+Path+"."))
}

// wantsHTML reports whether replies shall come as HTML, too, as a page needs them.
func wantsHTML(r *http.Request) bool {
	html, _ := strconv.ParseBool(r.URL.Query().Get("html"))
	return html
}

// call is one request of a known principal.
type call struct {
	*Engine
	who     access.Person
	request wire.Request
	accept  core.Accept
	mailbox core.ConversationID
	html    bool
	waited  <-chan struct{} // closed when the answer is due, or nobody waits for it any more
}

// answer takes exactly one path: a continuation never becomes a message (harness §3.4).
func (c *call) answer(w http.ResponseWriter, r *http.Request) (wire.Response, error) {
	wait, named := preferredWait(r.Header.Values("Prefer"))
	if !named || wait > c.Wait {
		wait = c.Wait
	}
	if named {
		w.Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait.Seconds())))
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + answerTime)) // fails only where there is no connection
	waiting, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	c.waited = waiting.Done()
	ctx := context.WithoutCancel(r.Context()) // the wait ends, and its answer is still read from the store
	if c.request.Continuation == nil {
		return c.message(ctx)
	}
	return c.resume(ctx, named)
}

// preferredWait reads the wait of Prefer headers, in seconds (RFC 7240 §4.3).
func preferredWait(headers []string) (time.Duration, bool) {
	for _, preference := range strings.Split(strings.Join(headers, ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(preference), "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		if seconds, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`)); err == nil && seconds >= 0 {
			return time.Duration(min(seconds, 3600)) * time.Second, true
		}
	}
	return 0, false
}
