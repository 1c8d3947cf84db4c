package slacktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gatehouse/adapters/slack/slacktest/internal/socketmode"
)

// Socket is one Socket Mode connection, open or not.
type Socket = socketmode.Socket

// MaxSockets is how many sockets an app may hold open at a time.
const MaxSockets = socketmode.MaxSockets

var socketMethods = map[string]method{
	"apps.connections.open": {app: true, do: openConnection},
}

// openConnection returns an address that opens one socket.
func openConnection(q *request) (object, *failure) {
	address := strings.Replace(q.s.base, "http", "ws", 1) + "/link/?ticket=" + socketmode.Ticket(q.s.Hub) +
		"&app_id=" + q.s.o.AppID
	return object{"url": address}, nil
}

// PayloadKind is the kind of a payload, as named in Socket Mode.
type PayloadKind string

// The kinds of payloads.
const (
	Events       PayloadKind = "events_api"
	Interactions PayloadKind = "interactive"
	Commands     PayloadKind = "slash_commands"
)

// maxRetries is how often Slack sends an event again.
const maxRetries = 3

// Delivery is one payload on its way to the app.
type Delivery struct {
	s           *Server
	Kind        PayloadKind
	Type        string // the event's or interaction's type
	EventID     string // of an event; the same in all its tries
	TriggerID   string // of a click or a command
	ResponseURL string // of a click or a command
	Echo        bool   // an event about the app's own message

	body      []byte // JSON
	form      []byte // sent over HTTP instead of body
	how       actionOptions
	once      bool // Slack never sends it again
	raw       bool
	answerFor func(body []byte) // called with the app's answer, under the lock

	attempts []Attempt
	acked    bool
	over     bool
	done     chan struct{}
}

// Attempt is one try of a delivery.
type Attempt = socketmode.Attempt

// Body returns the payload as JSON.
func (d *Delivery) Body() []byte { return slices.Clone(d.body) }

// Attempts returns the tries so far.
func (d *Delivery) Attempts() []Attempt {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return slices.Clone(d.attempts)
}

// Acked reports whether the app acknowledged it.
func (d *Delivery) Acked() bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.acked
}

// Over reports whether no further try will be made.
func (d *Delivery) Over() bool {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.over
}

// Wait waits until no further try will be made, and fails if the app never acknowledged.
func (d *Delivery) Wait(ctx context.Context) error {
	select {
	case <-d.done:
	case <-ctx.Done():
		return fmt.Errorf("%s %s is still on its way: %w", d.Kind, d.Type, ctx.Err())
	}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if d.acked {
		return nil
	}
	last := Attempt{Err: "no try"}
	if len(d.attempts) > 0 {
		last = d.attempts[len(d.attempts)-1]
	}
	return fmt.Errorf("%s %s was not acknowledged in %d tries: HTTP %d %s", d.Kind, d.Type, len(d.attempts),
		last.Status, last.Err)
}

// Again sends the same payload once more, marked as a retry, whatever its earlier result. Slack does so when an
// acknowledgement is lost.
func (d *Delivery) Again() *Delivery {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	h := d.how
	h.retryNum, h.retryReason, h.copies = 1, "http_timeout", 1
	again := &Delivery{
		s: d.s, Kind: d.Kind, Type: d.Type, EventID: d.EventID, TriggerID: d.TriggerID, ResponseURL: d.ResponseURL,
		Echo: d.Echo,
		body: d.body, form: d.form, how: h, once: true, raw: d.raw,
	}
	d.s.dispatch("", []*Delivery{again})
	return again
}

// Deliveries returns all payloads so far, in the order in which they were made.
func (s *Server) Deliveries() []*Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deliveries)
}

// WaitDelivered waits until every payload made so far is over, and fails if one was never acknowledged.
func (s *Server) WaitDelivered(ctx context.Context) error {
	var all error
	for _, d := range s.Deliveries() {
		if err := d.Wait(ctx); err != nil {
			all = errors.Join(all, err)
			if ctx.Err() != nil {
				return all
			}
		}
	}
	return all
}

// dispatch starts a group of deliveries that travel together, behind those of the same conversation. The caller holds
// the lock.
func (s *Server) dispatch(conversation string, group []*Delivery) {
	if len(group) == 0 {
		return
	}
	s.deliveries = append(s.deliveries, group...)
	s.changed()
	for _, d := range group {
		d.done = make(chan struct{})
	}
	if s.ctx.Err() != nil {
		for _, d := range group {
			d.over = true
			close(d.done)
		}
		return
	}
	before := s.queues[conversation]
	first := make(chan struct{})
	if conversation != "" {
		s.queues[conversation] = first
	} else {
		before = nil
	}
	var left sync.WaitGroup
	left.Add(len(group))
	for _, d := range group {
		s.host.Go(func() {
			if before != nil {
				select {
				case <-before:
				case <-s.ctx.Done():
				}
			}
			s.deliver(d, sync.OnceFunc(left.Done))
		})
	}
	s.host.Go(func() {
		left.Wait()
		close(first)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.queues[conversation] == first {
			delete(s.queues, conversation)
		}
	})
}

// deliver makes the tries of one delivery; tried is called when the first is over.
func (s *Server) deliver(d *Delivery, tried func()) {
	defer tried()
	defer s.finish(d)
	retry, reason := d.how.retryNum, d.how.retryReason
	copies := max(1, d.how.copies)
	for tries := 0; tries <= maxRetries || copies > 0; tries++ {
		if s.ctx.Err() != nil {
			return
		}
		var a Attempt
		var again bool
		if url := s.addressFor(d.Kind); url != "" {
			a, again = s.tryHTTP(d, url, retry, reason)
		} else {
			a, again = socketmode.Send(s.Hub, socketmode.Payload{
				Kind: string(d.Kind), Body: d.body, Raw: d.raw, AcceptsResponse: d.answerFor != nil,
				IsEvent: d.Kind == Events, Retry: retry, Reason: reason,
			}, tried)
		}
		s.record(d, a)
		tried()
		retry = max(a.Retry, retry) + 1
		if a.Acked {
			copies--
			reason = "http_timeout"
			if copies <= 0 {
				return
			}
			continue
		}
		copies = 0
		if d.once || !again || tries >= maxRetries {
			return
		}
		reason = reasonFor(a)
		s.o.Wait(s.ctx, tries+1)
	}
}

func reasonFor(a Attempt) string {
	switch {
	case a.Err == "timeout":
		return "http_timeout"
	case a.Status != 0:
		return "http_error"
	}
	return "connection_failed"
}

func (s *Server) addressFor(kind PayloadKind) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind {
	case Interactions:
		return s.to.Interactions
	case Commands:
		return s.to.Commands
	}
	return s.to.Events
}

func (s *Server) record(d *Delivery, a Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := a.Acked && !d.acked
	d.attempts = append(d.attempts, a)
	d.acked = d.acked || a.Acked
	if first && d.answerFor != nil {
		d.answerFor(a.Answer)
	}
	s.changed()
}

func (s *Server) finish(d *Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.over = true
	close(d.done)
	s.changed()
}
