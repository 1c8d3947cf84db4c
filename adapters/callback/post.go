package callback

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"gatehouse/adapters/internal/retryafter"
	"gatehouse/core"
)

// longestWait bounds what a receiver may ask for: the row of a decision does not wait longer for its next attempt.
const longestWait = time.Hour

// Post posts the decision of d.Approval to the URL that is the delivery's channel. Its reference is the post's key.
// Errors: delivery_later, where another attempt may succeed; any other category, where it won't, the errors of Body and
// Keys among them.
func (s *Sender) Post(ctx context.Context, d core.Delivery) (core.Ref, bool, error) {
	if d.Kind == core.PostWorking {
		return "", false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	r, err := s.request(ctx, d)
	if err != nil {
		return "", false, err
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return "", false, unreachable(r.URL.Host, err)
	}
	_ = answer.Body.Close() // unread
	if err := verdict(answer, s.Now()); err != nil {
		return "", false, err
	}
	return core.Ref(d.Key), false, nil
}

// request makes the signed request of a delivery.
func (s *Sender) request(ctx context.Context, d core.Delivery) (*http.Request, error) {
	if d.Approval == "" {
		return nil, core.Errorf(core.Internal, "The post %s for a callback names no approval.", d.Key)
	}
	u, err := s.Hosts.parse(d.To.Channel)
	if err != nil {
		return nil, err
	}
	keys, err := s.Keys(ctx, d.Approval)
	if err != nil {
		return nil, stored(err)
	}
	if len(keys) == 0 {
		return nil,
			core.Errorf(core.Internal, "There is no key to sign the decision of the approval %s with.", d.Approval)
	}
	body, err := s.Body(ctx, d.Approval)
	if err != nil {
		return nil, stored(err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil,
			core.Wrap(core.Internal, err, "The decision of the approval %s could not be put into a request.",
				d.Approval)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "gatehouse")
	sign(r.Header, d.Approval, s.Now(), body, keys)
	return r, nil
}

// stored makes a failure of our own store retryable, since it is no answer of a receiver.
func stored(err error) error {
	if core.IsStoreFailure(err) {
		return core.Wrap(core.DeliveryLater, err, "The decision can't be read from the database now.")
	}
	return err
}

// unreachable is the error of a request without an answer. What the library says is repeated only where it is not the
// receiver's text, and without the URL.
func unreachable(host string, err error) error {
	var (
		refusal     *core.Error
		certificate *tls.CertificateVerificationError
		slow        net.Error
		network     *net.OpError
	)
	switch {
	case errors.As(err, &refusal):
		return refusal // its address is not reached
	case errors.As(err, &certificate):
		return core.Wrap(core.DeliveryLater, fmt.Errorf("%.200q", certificate.Error()),
			"%s has no valid certificate, so the decision was not sent to it. It is tried again.", host)
	case errors.As(err, &slow) && slow.Timeout():
		return core.Errorf(core.DeliveryLater,
			"%s did not answer in time. It may have got the decision, which is sent again.", host)
	case errors.As(err, &network):
		return core.Wrap(core.DeliveryLater, network,
			"%s could not be reached, or the connection was lost. The decision is sent again.", host)
	}
	return core.Errorf(core.DeliveryLater, "%s gave no answer that can be read. The decision is sent again.", host)
}

// verdict is what the status of an answer means: nil for a decision that has arrived.
func verdict(a *http.Response, now time.Time) error {
	from, code := a.Request.URL.Host, a.StatusCode
	switch {
	case code >= 200 && code <= 299:
		return nil
	case code == http.StatusTooManyRequests || code == http.StatusRequestTimeout || code == http.StatusTooEarly ||
		code >= 500 && code <= 599:
		e := core.Errorf(core.DeliveryLater, "%s answered with %s. The decision is sent again.", from, status(code))
		e.RetryAfter = min(retryafter.Of(a.Header, now), longestWait)
		return e
	case code >= 300 && code <= 399:
		return core.Errorf(core.DeliveryFailed,
			"%s answered with %s. Redirects are not followed: whoever asks for approvals must give the final address "+
				"as callback_url.", from, status(code))
	case code == http.StatusGone:
		return core.Errorf(core.DeliveryFailed, "%s answered with %s: it wants no more decisions at this callback_url.",
			from, status(code))
	}
	return core.Errorf(core.DeliveryFailed,
		"%s answered with %s, so the decision is not sent again by itself. See the receiver's log for the cause.", from,
		status(code))
}
