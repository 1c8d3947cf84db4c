package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"gatehouse/cmd/bench/internal/wire"
)

// sockets are the connections of Socket Mode that a bot has open.
type sockets struct {
	*wire.Sockets

	mu    sync.Mutex
	open  []*wire.Socket
	next  int                      // whose turn it is
	last  int                      // the number of the last envelope
	waits map[string]chan struct{} // by envelope: closed when it is acknowledged
}

func serveSockets() (*sockets, error) {
	s := &sockets{waits: map[string]chan struct{}{}}
	var err error
	s.Sockets, err = wire.ServeSockets(s.serve)
	return s, err
}

// Close ends the connections. It does nothing for nil.
func (s *sockets) Close() {
	if s != nil {
		s.Sockets.Close()
	}
}

// pingEvery is how often Slack pings.
const pingEvery = 5 * time.Second

// serve reads the acknowledgements of a connection until it ends.
func (s *sockets) serve(one *wire.Socket) {
	if err := one.Write(
		[]byte(`{"type":"hello","num_connections":1,"connection_info":{"app_id":"` + app +
			`"},"debug_info":{"approximate_connection_time":18060}}`)); err != nil {
		return
	}
	s.mu.Lock()
	s.open = append(s.open, one)
	s.mu.Unlock()
	defer s.forget(one)
	pings := time.NewTicker(pingEvery)
	defer pings.Stop()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case <-pings.C:
				_ = one.Ping() // if it fails, so does reading
			case <-ended:
				return
			}
		}
	}()
	for {
		frame, err := one.Read()
		if err != nil {
			return
		}
		var ack struct {
			EnvelopeID string `json:"envelope_id"`
		}
		if err := json.Unmarshal(frame, &ack); err != nil {
			return
		}
		s.acked(ack.EnvelopeID)
	}
}

func (s *sockets) forget(one *wire.Socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.open {
		if other == one {
			s.open = append(s.open[:i], s.open[i+1:]...)
			return
		}
	}
}

func (s *sockets) acked(envelope string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait, ok := s.waits[envelope]; ok {
		close(wait)
		delete(s.waits, envelope)
	}
}

// pick returns the connection whose turn it is, nil if none is open.
func (s *sockets) pick() *wire.Socket {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 {
		return nil
	}
	s.next++
	return s.open[s.next%len(s.open)]
}

// envelope makes a new envelope; wait is closed when it is acknowledged.
func (s *sockets) envelope() (id string, wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	id = "bench-" + strconv.Itoa(s.last)
	done := make(chan struct{})
	s.waits[id] = done
	return id, done
}

// ackTime is how long a bot may take to acknowledge.
const ackTime = 30 * time.Second

// send sends an event once, and waits until it is acknowledged. Error: it is not.
func (s *sockets) send(ctx context.Context, body []byte, again bool) error {
	one := s.pick()
	if one == nil {
		return errors.New("no connection is open")
	}
	id, acked := s.envelope()
	retry := `"retry_attempt":0,"retry_reason":""`
	if again {
		retry = `"retry_attempt":1,"retry_reason":"timeout"`
	}
	frame := fmt.Appendf(make([]byte, 0, len(body)+200),
		`{"envelope_id":%q,"type":"events_api","accepts_response_payload":false,%s,"payload":%s}`, id, retry, body)
	if err := one.Write(frame); err != nil {
		return err
	}
	timer := time.NewTimer(ackTime)
	defer timer.Stop()
	select {
	case <-acked:
		return nil
	case <-one.Gone():
		return errors.New("the connection has ended")
	case <-timer.C:
		return errors.New("it is not acknowledged")
	case <-ctx.Done():
		return ctx.Err()
	}
}
