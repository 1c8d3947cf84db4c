package slack

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// heard turns what the library gives for a call into our error, and notes whether Slack can be spoken to. Categories: delivery_later
// (Slack asks to wait, or can't be reached: nothing was done), delivery_in_doubt (it may or may not have been done),
// provider_authentication (the token), unsupported (a scope is missing), delivery_failed (refused for good).
func (s *Slack) heard(err error) error {
	fault := faultOf(err)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fault // we hung up, some calls after a moment: that tells little of Slack, which is asked every minute besides
	}
	switch core.CategoryOf(fault) {
	case core.ProviderAuthentication, core.DeliveryInDoubt:
		s.voice.met(fault)
	case core.DeliveryLater:
		if core.RetryAfterOf(fault) == 0 {
			s.voice.met(fault)
		}
	default:
		s.voice.met(nil) // an answer, whatever it says
	}
	return fault
}

// refusedTokens are Slack's words for a token that is worth nothing.
var refusedTokens = []string{"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "no_permission", "ekm_access_denied",
	"team_access_not_granted", "org_login_required"}

// maybeDone are Slack's words for a call that broke somewhere in the middle.
var maybeDone = []string{"internal_error", "fatal_error", "request_timeout"}

// notNow are Slack's words for a call that was not begun.
var notNow = []string{"ratelimited", "rate_limited", "service_unavailable", "team_added_to_org"}

func faultOf(err error) error {
	if err == nil {
		return nil
	}
	var limited *api.RateLimitedError
	if errors.As(err, &limited) {
		e := core.Wrap(core.DeliveryLater, err, "Slack asks to wait.")
		e.RetryAfter = max(limited.RetryAfter, minRetryAfter)
		return e
	}
	var number *strconv.NumError
	if errors.As(err, &number) { // a 429 whose Retry-After is no whole number
		return later(err)
	}
	var answer api.SlackErrorResponse
	if errors.As(err, &answer) {
		return refusal(answer)
	}
	var status api.StatusCodeError
	if errors.As(err, &status) {
		return statusFault(status)
	}
	if unsent(err) {
		return core.Wrap(core.DeliveryLater, err, "Slack can't be reached.")
	}
	return core.Wrap(core.DeliveryInDoubt, err, "Slack's answer was lost.")
}

// minRetryAfter is how long to wait where Slack asks for it without saying how long.
const minRetryAfter = time.Second

func later(err error) error {
	e := core.Wrap(core.DeliveryLater, err, "Slack asks to wait.")
	e.RetryAfter = minRetryAfter
	return e
}

func refusal(answer api.SlackErrorResponse) error {
	switch {
	case slices.Contains(refusedTokens, answer.Err):
		return core.Wrap(core.ProviderAuthentication, answer, "Slack refuses the token (%s). Install the app again and set SLACK_BOT_TOKEN anew.", answer.Err)
	case answer.Err == "missing_scope":
		return core.Wrap(core.Unsupported, answer, "The bot's token lacks a scope. gatehouse doctor says which.")
	case slices.Contains(maybeDone, answer.Err):
		return core.Wrap(core.DeliveryInDoubt, answer, "Slack broke down over it (%s).", answer.Err)
	case slices.Contains(notNow, answer.Err):
		return later(answer)
	}
	return core.Wrap(core.DeliveryFailed, answer, "Slack refuses it: %s.", answer.Err)
}

// isRefusal reports whether Slack refused with one of the words.
func isRefusal(err error, words []string) bool {
	var answer api.SlackErrorResponse
	return errors.As(err, &answer) && slices.Contains(words, answer.Err)
}

func statusFault(status api.StatusCodeError) error {
	switch {
	case status.Code == http.StatusTooManyRequests:
		return later(status)
	case status.Code >= http.StatusInternalServerError:
		return core.Wrap(core.DeliveryInDoubt, status, "Slack broke down over it (%d).", status.Code)
	}
	return core.Wrap(core.DeliveryFailed, status, "Slack, or what stands before it, refuses it (%d).", status.Code)
}

// unsent reports an error of a call that never left this machine: no connection was made.
func unsent(err error) bool {
	var op *net.OpError
	var name *net.DNSError
	return errors.As(err, &name) || errors.As(err, &op) && op.Op == "dial"
}

// shutOut are Slack's words for a channel where the bot may not write until somebody lets it.
var shutOut = []string{"not_in_channel", "restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_only_channel",
	"restricted_action_non_threadable_channel", "restricted_action_thread_locked"}

// sendFault is what an error of a post means to the outbox: a token, a scope and a place in a channel can be mended, so the post waits
// for that.
func sendFault(err error) error {
	switch c := core.CategoryOf(err); {
	case c == core.ProviderAuthentication:
		return core.Wrap(core.DeliveryLater, err, "%s", core.MessageOf(err))
	case c == core.Unsupported:
		return core.Wrap(core.DeliveryForbidden, err, "%s", core.MessageOf(err))
	case isRefusal(err, shutOut):
		return core.Wrap(core.DeliveryForbidden, err, "The bot may not write in this channel. Invite it there (/invite), or let it post in the settings of the channel.")
	}
	return err
}

// askFault is what an error of a look-up means to a turn: it is put off, or told.
func askFault(err error) error {
	switch core.CategoryOf(err) {
	case core.DeliveryLater, core.DeliveryInDoubt:
		e := core.Wrap(core.ProviderUnavailable, err, "Slack can't be asked now.")
		e.RetryAfter = core.RetryAfterOf(err)
		return e
	}
	return err
}
