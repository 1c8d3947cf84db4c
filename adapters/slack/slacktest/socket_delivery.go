package slacktest

import (
	"encoding/json"
	"time"
)

// trySocket sends a payload on one open socket and waits for its acknowledgement; again says whether Slack would send it again.
func (s *Server) trySocket(d *Delivery, retry int, reason string, sent func()) (a Attempt, again bool) {
	socket, waited := s.pick(d, retry > 0)
	a = Attempt{Retry: retry, Reason: reason, At: s.o.Now()}
	if socket == nil {
		a.Err = "no socket is open"
		return a, false
	}
	if waited && retry == 0 {
		a.Retry, a.Reason = 1, "connection_failed"
	}
	a.Socket, a.Envelope = socket.ID, s.ids.uuid()

	s.mu.Lock()
	answer := make(chan ack, 1)
	s.acks[a.Envelope] = answer
	socket.sent++
	silent := socket.silent
	s.changed()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.acks, a.Envelope)
	}()

	began := time.Now()
	if !silent {
		if err := socket.write(frameFor(d, a)); err != nil {
			a.Err = err.Error()
			return a, true
		}
	}
	sent()
	if d.raw {
		a.Acked = true // nobody acknowledges what has no envelope
		return a, false
	}
	timer := time.NewTimer(s.o.AckWithin)
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
	case <-s.ctx.Done():
		a.Err = "server closed"
	}
	a.Took = time.Since(began)
	return a, true
}

func frameFor(d *Delivery, a Attempt) any {
	if d.raw {
		return d.body
	}
	body := d.body
	if d.how.body != nil {
		body = d.how.body
	}
	frame := object{"envelope_id": a.Envelope, "type": string(d.Kind), "payload": json.RawMessage(body), "accepts_response_payload": d.answerFor != nil}
	if d.Kind == Events {
		frame["retry_attempt"], frame["retry_reason"] = a.Retry, socketReason(a.Reason)
	}
	return frame
}

// socketReason is a retry's reason in Socket Mode's words.
func socketReason(reason string) string {
	if reason == "http_timeout" {
		return "timeout"
	}
	return reason
}

// pick chooses the socket for a try. Events wait for one if none is open; the rest fails, as it would before a person's eyes. A first try
// may land on a socket that went silent; a retry waits for one that did not.
func (s *Server) pick(d *Delivery, isRetry bool) (socket *Socket, waited bool) {
	for {
		s.mu.Lock()
		opened := s.opened
		var choice []*Socket
		for _, k := range s.sockets {
			if k.open && (!k.silent || (!isRetry && !waited)) {
				choice = append(choice, k)
			}
		}
		if len(choice) > 0 {
			s.turn++
			socket = choice[s.turn%len(choice)]
		}
		s.mu.Unlock()
		if socket != nil || d.Kind != Events {
			return socket, waited
		}
		waited = true
		select {
		case <-opened:
		case <-s.ctx.Done():
			return nil, waited
		}
	}
}
