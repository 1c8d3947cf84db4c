package socketmode

import (
	"encoding/json"
	"time"
)

// Payload is something to send by socket.
type Payload struct {
	Kind            string // events_api, interactive or slash_commands
	Body            []byte // JSON
	Raw             bool   // the body is the whole frame, which is not acknowledged
	AcceptsResponse bool
	IsEvent         bool // it waits for a socket if none is open
	Retry           int
	Reason          string // of the retry
}

// Attempt is one try to send a payload, over a socket or HTTP.
type Attempt struct {
	Retry    int    // 0 for the first try
	Reason   string // why it was sent again
	At       time.Time
	Took     time.Duration // real time until the answer
	Status   int           // of HTTP
	Answer   []byte        // the body, or the payload of the socket's acknowledgement
	Envelope string        // of Socket Mode
	Socket   int           // the ID of the socket
	Acked    bool
	Err      string
}

// Send sends a payload on one open socket and waits for its acknowledgement; again reports whether Slack would send it
// again. sent is called once it is written. The caller does not hold the lock.
func Send(h *Hub, p Payload, sent func()) (a Attempt, again bool) {
	socket, waited := h.pick(p)
	a = Attempt{Retry: p.Retry, Reason: p.Reason, At: h.o.Now()}
	if socket == nil {
		a.Err = "no socket is open"
		return a, false
	}
	if waited && p.Retry == 0 {
		a.Retry, a.Reason = 1, "connection_failed"
	}
	a.Socket, a.Envelope = socket.ID, h.o.NewID()

	h.mu.Lock()
	answer := make(chan ack, 1)
	h.acks[a.Envelope] = answer
	socket.sent++
	silent := socket.silent
	h.host.Changed()
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.acks, a.Envelope)
	}()

	began := time.Now()
	if !silent {
		if err := socket.deliver(frameFor(p, a)); err != nil {
			a.Err = err.Error()
			return a, true
		}
	}
	sent()
	if p.Raw {
		a.Acked = true // without an envelope there is no acknowledgement
		return a, false
	}
	timer := time.NewTimer(h.o.AckWithin)
	defer timer.Stop()
	take := func(got ack) (Attempt, bool) {
		a.Acked, a.Answer, a.Took = true, got.payload, time.Since(began)
		return a, true
	}
	select {
	case got := <-answer:
		return take(got)
	case <-timer.C:
		a.Err = "timeout"
	case <-socket.gone:
		select {
		case got := <-answer: // it came just before the end
			return take(got)
		default:
		}
		a.Err = "the socket ended"
	case <-h.host.Ctx.Done():
		a.Err = "server closed"
	}
	a.Took = time.Since(began)
	return a, true
}

func frameFor(p Payload, a Attempt) any {
	if p.Raw {
		return p.Body
	}
	frame := map[string]any{
		"envelope_id": a.Envelope, "type": p.Kind, "payload": json.RawMessage(p.Body),
		"accepts_response_payload": p.AcceptsResponse,
	}
	if p.IsEvent {
		frame["retry_attempt"], frame["retry_reason"] = a.Retry, socketReason(a.Reason)
	}
	return frame
}

// socketReason returns a retry's reason as named in Socket Mode.
func socketReason(reason string) string {
	if reason == "http_timeout" {
		return "timeout"
	}
	return reason
}

// pick chooses the socket for a try. Events wait for one if none is open; other payloads fail. A first try may use a
// socket that went silent; a retry waits for one that did not.
func (h *Hub) pick(p Payload) (socket *Socket, waited bool) {
	for {
		h.mu.Lock()
		opened := h.opened
		var choice []*Socket
		for _, k := range h.sockets {
			if k.open && (!k.silent || (p.Retry == 0 && !waited)) {
				choice = append(choice, k)
			}
		}
		if len(choice) > 0 {
			h.turn++
			socket = choice[h.turn%len(choice)]
		}
		h.mu.Unlock()
		if socket != nil || !p.IsEvent {
			return socket, waited
		}
		waited = true
		select {
		case <-opened:
		case <-h.host.Ctx.Done():
			return nil, waited
		}
	}
}
