package chat

import (
	"errors"
	"net"
	"net/url"
	"time"

	"gatehouse/core"
)

// Errors of calls to a platform have these categories, before SendError, FindError and LookupError:
//
//	delivery_later      the platform asks to wait (RetryAfter is set), or it can't be reached: nothing was done
//	delivery_in_doubt   the call may or may not have been done
//	unauthorized        the token is refused
//	unsupported         a scope or a permission is missing
//	delivery_failed     the platform refuses it for good

// TransportError is what an error of a call means that got no answer. title is the platform's name.
func TransportError(title string, err error) error {
	if neverSent(err) {
		return core.Wrap(core.DeliveryLater, err, "%s can't be reached.", title)
	}
	return core.Wrap(core.DeliveryInDoubt, err, "%s's answer was lost.", title)
}

// neverSent reports an error of a call that never left this machine: no connection was made.
func neverSent(err error) bool {
	var op *net.OpError
	var name *net.DNSError
	return errors.As(err, &name) || errors.As(err, &op) && op.Op == "dial"
}

// MinRetryAfter is how long to wait where a platform asks for it without saying how long.
const MinRetryAfter = time.Second

// Wait is delivery_later with a time; err, for the log, may be nil.
func Wait(wait time.Duration, err error, text string) error {
	e := core.Wrap(core.DeliveryLater, err, "%s", text)
	e.RetryAfter = wait
	return e
}

// SendError is what an error of a call means to the outbox where the call posts or edits: somebody can mend a token, a scope or a
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

// FindError is what an error of a call means to the outbox where the call looks for a post. Looking changes nothing: where it failed
// for now it is repeated later, for as long as that takes. Where the platform refuses to tell, the post stays in doubt.
func FindError(err error) error {
	switch core.CategoryOf(err) {
	case core.DeliveryInDoubt, core.Unauthorized:
		return core.Wrap(core.DeliveryLater, err, "%s", core.MessageOf(err))
	}
	return err
}

// LookupError is what an error of a call means to a turn that needs its answer: where the call failed for now it is provider_unavailable,
// with the text, so that the turn is repeated.
func LookupError(err error, format string, args ...any) error {
	if !core.IsTemporary(err) {
		return err
	}
	e := core.Wrap(core.ProviderUnavailable, err, format, args...)
	e.RetryAfter = core.RetryAfterOf(err)
	return e
}

// WithoutURL is an error of a call without the call's address, which may hold a secret: a token, a file's signature.
func WithoutURL(err error) error {
	var call *url.Error
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}
