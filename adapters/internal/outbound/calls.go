package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"gatehouse/core"
)

// Errors of calls to a platform have these categories, before SendError, FindError and LookupError:
//
//	delivery_later      the platform asks to wait (RetryAfter is set), can't be reached, or something in front of it
//	                    answers (NotOwn): nothing was done
//	delivery_in_doubt   the call may or may not have taken effect
//	unauthorized        the token is refused
//	unsupported         a scope or a permission is missing
//	delivery_failed     the platform refuses it permanently
//	content_refused     the platform refuses what it says

// TransportError converts the error of a call that got no answer. title is the platform's name.
func TransportError(title string, err error) error {
	if neverSent(err) {
		return core.Wrap(core.DeliveryLater, err, "%s can't be reached.", title)
	}
	return core.Wrap(core.DeliveryInDoubt, err, "%s's answer was lost.", title)
}

// neverSent reports whether a call never left this machine because no connection was made.
func neverSent(err error) bool {
	var op *net.OpError
	var name *net.DNSError
	return errors.As(err, &name) || errors.As(err, &op) && op.Op == "dial"
}

// NotOwn converts an answer that the platform itself does not give: a proxy, a firewall or a login page in front of it
// does. By its status, the call was refused before it reached the platform, or may have taken effect. title is the
// platform's name; err is for the log.
func NotOwn(title string, status int, err error) error {
	const what = "What answers in place of %s is not %[1]s (%d): a proxy, a firewall or a login page in front of it. " +
		"Check this machine's network, HTTPS_PROXY, and the setting of the API's address."
	err = notOwn{err}
	if status < http.StatusMultipleChoices || status == statusGivenUp {
		return core.Wrap(core.DeliveryInDoubt, err, what, title, status)
	}
	return core.Wrap(core.DeliveryLater, err, what, title, status)
}

// notOwn marks the error of such an answer.
type notOwn struct{ error }

func (n notOwn) Unwrap() error { return n.error }

// statusGivenUp is proxies' own: somebody has ended the call.
const statusGivenUp = 499

// The waits that a platform may ask for: without a time it is MinRetryAfter, and after MaxWait it is asked again,
// however much longer the time is.
const (
	MinRetryAfter = time.Second
	MaxWait       = 15 * time.Minute
)

// Wait returns delivery_later with a time to wait, at most MaxWait. err is for the log and may be nil.
func Wait(wait time.Duration, err error, text string) error {
	if wait > MaxWait {
		text += fmt.Sprintf(" It says for %s; it is asked again after %s.", wait.Round(time.Second), MaxWait)
	}
	e := core.Wrap(core.DeliveryLater, err, "%s", text)
	e.RetryAfter = min(wait, MaxWait)
	return e
}

// SendError converts, for the outbox, the error of a call that posts or edits. An admin can mend a token, a scope or a
// permission, so the post waits for that.
func SendError(err error) error {
	switch core.CategoryOf(err) {
	case core.Unauthorized:
		return core.Wrap(core.DeliveryLater, err, "%s", core.MessageOf(err))
	case core.Unsupported:
		return core.Wrap(core.DeliveryForbidden, err, "%s", core.MessageOf(err))
	}
	return err
}

// FindError converts, for the outbox, the error of a call that looks for a post. Looking changes nothing, so after a
// temporary failure it is repeated later, without a limit. If the platform refuses to answer, the post stays in doubt.
func FindError(err error) error {
	switch core.CategoryOf(err) {
	case core.DeliveryInDoubt, core.Unauthorized:
		return core.Wrap(core.DeliveryLater, err, "%s", core.MessageOf(err))
	}
	return err
}

// LookupError converts the error of a call whose answer a turn needs. A temporary failure becomes provider_unavailable
// with the given text, and the turn is repeated.
func LookupError(err error, format string, args ...any) error {
	if !core.IsTemporary(err) {
		return err
	}
	e := core.Wrap(core.ProviderUnavailable, err, format, args...)
	e.RetryAfter = core.RetryAfterOf(err)
	return e
}

// WithoutURL returns the error of a call without the call's address, which may contain a secret: a token, a file's
// signature.
func WithoutURL(err error) error {
	var call *url.Error
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}

// Limits of the connections to a platform.
const (
	CallTimeout = 15 * time.Second // of one call, unless its context ends earlier
	DialTimeout = 5 * time.Second
	idleConns   = 256 // as many as the outbox has posts in flight
)

// Transport returns a transport with a connection pool of its own, so that its connections can be closed together with
// the platform.
func Transport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: DialTimeout}).DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: DialTimeout,
	}
}
