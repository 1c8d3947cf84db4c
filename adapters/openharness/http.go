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
	"gatehouse/core/inflight"
)

// handler answers requests of one method with what serve does, or with its refusal.
func (e *Engine) handler(
	method string, accept core.Accept, serve func(*call, http.ResponseWriter, *http.Request) error,
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{Engine: e, accept: accept}
		leave, err := c.admit(w, r, method)
		if err == nil {
			defer leave()
			err = serve(c, w, r)
		}
		if err != nil {
			e.writeRefusal(w, c.request, err)
		}
	})
}

// admit finds out who sends a request, of this method, and counts it; leave must be called if it is let in.
func (c *call) admit(w http.ResponseWriter, r *http.Request, method string) (leave func(), err error) {
	if c.who, err = c.Gate.Identify(r); err != nil {
		return nil, err
	}
	if r.Method != method {
		w.Header().Set("Allow", method)
		return nil, refuse(http.StatusMethodNotAllowed, codeMethod, "Only "+method+" is served at this address.")
	}
	if err = c.Gate.SameSite(r); err != nil {
		return nil, err
	}
	if err = c.Gate.MadeFor(c.who, access.PageOf(r)); err != nil {
		return nil, err
	}
	inflight.Of(r.Context()).As(inflight.People, c.who.Actor.ID)
	return c.limits.enter(c.who, method == http.MethodGet) // a stream is got
}

// elsewhere answers requests to addresses that are nothing.
func (e *Engine) elsewhere(w http.ResponseWriter, _ *http.Request) {
	e.writeRefusal(w, wire.Request{},
		refuse(http.StatusNotFound, codeNotFound, "There is nothing at this address. Requests go to "+Path+"."))
}

// call is one request of a known principal.
type call struct {
	*Engine
	who     access.Person
	request wire.Request
	accept  core.Accept
	mailbox core.ConversationID
	html    bool
	deltas  bool            // what a turn says while it runs is sent, too
	waited  <-chan struct{} // closed when the answer is due, or nobody waits for it any more
}

// message answers a request message.
func (c *call) message(w http.ResponseWriter, r *http.Request) error {
	body, err := c.readBody(w, r)
	if err != nil {
		return err
	}
	var fault *wire.Fault
	if c.request, fault = wire.Decode(body, wire.Limits{Intent: c.MaxMessage}); fault != nil {
		return fault
	}
	c.mailbox = c.who.Conversation(c.request.Session, c.request.Conversation)
	c.html, _ = strconv.ParseBool(r.URL.Query().Get("html"))     // as a page needs its replies
	c.deltas, _ = strconv.ParseBool(r.URL.Query().Get("deltas")) // replies name the turn whose deltas they follow
	a, err := c.answer(w, r)
	if err == nil {
		write(w, http.StatusOK, a)
	}
	return err
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
	// fails only where there is no connection
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + answerTime))
	waiting, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	c.waited = waiting.Done()
	ctx := context.WithoutCancel(r.Context()) // the wait ends, and its answer is still read from the store
	if c.request.Continuation == nil {
		return c.say(ctx)
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
