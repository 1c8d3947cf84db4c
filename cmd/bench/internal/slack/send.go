package slack

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/wire"
)

// retryPause is how long a sender waits before it sends an event again. Slack waits longer: it would show nothing more
// here.
const retryPause = 20 * time.Millisecond

// Send sends events; see load.Platform.
func (s *Slack) Send(ctx context.Context, first, end int, sent func(n int)) error {
	return load.Send(ctx, s.plan, s.ledger, first, end, sent, func() (load.Deliver, func()) {
		send, stop := s.transport()
		var body []byte
		return func(ctx context.Context, n int, again bool) error {
			body = s.world.appendBody(body[:0], n)
			return s.deliver(ctx, send, n, body, again)
		}, stop
	})
}

// transport sends an event once and waits for its acknowledgement.
type transport func(ctx context.Context, body []byte, again bool) error

// transport returns what one sender sends with.
func (s *Slack) transport() (t transport, stop func()) {
	if len(s.to) == 0 {
		return s.sockets.send, func() {}
	}
	to := s.to[int(s.turn.Add(1))%len(s.to)]
	client, sign := &wire.Client{Address: to.Host}, newSigner(s.secrets.signing)
	return func(_ context.Context, body []byte, again bool) error {
		switch status, err := client.Post(sign.sign(to.Host, to.Path, body, again)); {
		case err != nil:
			return err
		case status < 200 || status > 299:
			return fmt.Errorf("the bot answers %d %s", status, http.StatusText(status))
		}
		return nil
	}, client.Close
}

// deliver sends an event until it is acknowledged.
func (s *Slack) deliver(ctx context.Context, send transport, n int, body []byte, again bool) error {
	for {
		err := send(ctx, body, again)
		if err == nil {
			s.ledger.Acked(n)
			return nil
		}
		again = true
		s.resent.Add(1)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the last attempt: %w", ctx.Err(), err)
		case <-time.After(retryPause):
		}
	}
}
