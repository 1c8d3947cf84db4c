package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"gatehouse/core"
)

// heard notes from what became of a call whether Discord can be spoken to.
func (r *rest) heard(fault error) {
	switch core.CategoryOf(fault) {
	case core.ProviderAuthentication, core.DeliveryInDoubt:
		r.met(fault)
	case core.DeliveryLater:
		if core.RetryAfterOf(fault) == 0 {
			r.met(fault)
		}
	default:
		r.met(nil) // an answer, whatever it says
	}
}

// refusal is Discord's word for a call that it did not do.
type refusal struct {
	Status  int
	Code    int // Discord's own; 0 where it gave none
	Word    string
	Foreign bool // the word of what stands before Discord, which tells nothing of what was asked for
}

// Error gives it as the log shows it.
func (r *refusal) Error() string {
	return fmt.Sprintf("HTTP %d, code %d: %s", r.Status, r.Code, r.Word)
}

// isRefusal reports whether Discord refused with one of the codes.
func isRefusal(err error, codes ...int) bool {
	var r *refusal
	if !errors.As(err, &r) {
		return false
	}
	for _, code := range codes {
		if r.Code == code {
			return true
		}
	}
	return false
}

// Discord's codes that mean something to us.
const (
	codeUnknownChannel     = 10003
	codeUnknownMember      = 10007
	codeUnknownMessage     = 10008
	codeUnknownUser        = 10013
	codeUnknownWebhook     = 10015
	codeUnknownInteraction = 10062
	codeMissingAccess      = 50001
	codeNotOurs            = 50005
	codeNoDirect           = 50007
	codeMissingPermissions = 50013
	codeBadWebhookToken    = 50027
	codeInvalidForm        = 50035
	codeThreadArchived     = 50083
	codeThreadLocked       = 160005
	codeThreadExists       = 160004
	codeTooManyThreads     = 160006
)

// notNow are Discord's codes for what it does later, whatever the status: slow mode, writes of a channel and of a server, edits of an
// announcement and of an old message, direct messages to too many people, messages switched off, a part of Discord that has too much to do.
var notNow = []int{20016, 20028, 20029, 20022, 30046, 40003, 40004, 40062, 130000}

// reasons says of some of the codes what happened and what to do.
var reasons = map[int]struct {
	category core.Category
	text     string
}{
	codeUnknownChannel: {core.DeliveryFailed, "Discord knows no such channel: it was deleted, or the bot is not in its server any more."},
	codeUnknownMessage: {core.DeliveryFailed, "Discord knows no such message: it was deleted."},
	codeMissingAccess:  {core.Unsupported, "The bot does not see this channel. Give it the permission View Channel there; gatehouse doctor says where one is missing."},
	codeMissingPermissions: {core.Unsupported, "The bot lacks a permission for this in this channel: Send Messages, in a thread Send Messages in Threads. " +
		"gatehouse doctor says which."},
	codeNotOurs:            {core.DeliveryFailed, "The message is of another author, so the bot can't change it."},
	codeNoDirect:           {core.DeliveryFailed, "This person takes no direct messages from the bot; they can allow them in their privacy settings of the server."},
	codeInvalidForm:        {core.DeliveryFailed, "Discord does not take the message as it is."},
	codeThreadArchived:     {core.DeliveryFailed, "The thread is archived, and the bot may not open it again. Somebody with the permission Manage Threads can."},
	codeThreadLocked:       {core.DeliveryFailed, "The thread is locked. Somebody with the permission Manage Threads can unlock it, or give the bot that permission."},
	codeTooManyThreads:     {core.DeliveryFailed, "This server has as many open threads as Discord allows. Archive some."},
	codeBadWebhookToken:    {core.DeliveryFailed, "It is too late to answer this interaction."},
	codeUnknownInteraction: {core.DeliveryFailed, "It is too late to answer this interaction."},
	codeUnknownWebhook:     {core.DeliveryFailed, "It is too late to answer this interaction."},
}

// faultOf turns what became of a call into our error. Categories: delivery_later (Discord asks to wait, or can't be reached: nothing was
// done), delivery_in_doubt (it may or may not have been done), provider_authentication (the token), unsupported (a permission is
// missing), delivery_failed (refused for good).
func faultOf(got testimony, body []byte, err error) error {
	switch {
	case got.status == 0 && err == nil:
		return nil // can't be; there was no call
	case got.status == 0 && unsent(err):
		return core.Wrap(core.DeliveryLater, err, "Discord can't be reached.")
	case got.status == 0:
		return core.Wrap(core.DeliveryInDoubt, err, "Discord's answer was lost.")
	case got.status == http.StatusTooManyRequests:
		return limited(got, body)
	}
	said := said(got.status, body)
	switch {
	case slices.Contains(notNow, said.Code):
		return limited(got, body)
	case got.status >= http.StatusInternalServerError:
		return core.Wrap(core.DeliveryInDoubt, said, "Discord broke down over it (%d).", got.status)
	case got.status >= http.StatusMultipleChoices:
		return refused(said)
	case err != nil:
		return core.Wrap(core.DeliveryInDoubt, err, "Discord's answer was lost.")
	}
	return nil
}

func refused(said *refusal) error {
	if reason, ok := reasons[said.Code]; ok {
		return core.Wrap(reason.category, said, "%s", reason.text)
	}
	switch {
	case said.Status == http.StatusUnauthorized:
		return core.Wrap(core.ProviderAuthentication, said, "Discord refuses the token. Reset it on the page Bot of your application, and set DISCORD_BOT_TOKEN anew.")
	case said.Status == http.StatusForbidden && said.Foreign:
		return core.Wrap(core.DeliveryLater, said, "What stands before Discord does not let the bot through (%d).", said.Status)
	case said.Status == http.StatusForbidden:
		return core.Wrap(core.Unsupported, said, "Discord does not let the bot do this (%d). gatehouse doctor says which permission is missing.", said.Code)
	}
	if said.Code == 0 {
		return core.Wrap(core.DeliveryFailed, said, "Discord, or what stands before it, refuses it (%d).", said.Status)
	}
	return core.Wrap(core.DeliveryFailed, said, "Discord refuses it: %s (%d).", said.Word, said.Code)
}

// maxWord is how much of Discord's own words is kept.
const maxWord = 300

// said reads a refusal. What is wrong with a form stands deeper down; the log gets it as it is.
func said(status int, body []byte) *refusal {
	var word struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	if err := json.Unmarshal(body, &word); err != nil {
		return &refusal{Status: status, Word: "no words of Discord's", Foreign: true}
	}
	text := word.Message
	if len(word.Errors) > 0 {
		text += " " + string(word.Errors)
	}
	if len(text) > maxWord {
		text = text[:maxWord]
	}
	return &refusal{Status: status, Code: word.Code, Word: clean(text)}
}

// Numbers of how long to wait where Discord asks for it.
const (
	minRetryAfter = time.Second // without saying how long
	maxRetryAfter = time.Hour   // whatever it says
)

// limited is a 429, or what is the same in other words. Its body tells the wait to the millisecond, its header in whole seconds; a proxy has only the header.
func limited(got testimony, body []byte) error {
	var word struct {
		RetryAfter float64 `json:"retry_after"`
	}
	seconds := 0.0
	if err := json.Unmarshal(body, &word); err == nil {
		seconds = word.RetryAfter
	}
	if header, err := strconv.ParseFloat(got.header.Get("Retry-After"), 64); err == nil && seconds <= 0 {
		seconds = header
	}
	wait := minRetryAfter
	if seconds > 0 && !math.IsNaN(seconds) {
		wait = time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
	}
	e := waitFor(wait, "Discord asks to wait.")
	e.Err = said(got.status, body)
	return e
}

// waitFor is delivery_later with a time.
func waitFor(wait time.Duration, text string) *core.Error {
	e := core.Errorf(core.DeliveryLater, "%s", text)
	e.RetryAfter = wait
	return e
}

// unsent reports an error of a call that never left this machine: no connection was made.
func unsent(err error) bool {
	var op *net.OpError
	var name *net.DNSError
	return errors.As(err, &name) || errors.As(err, &op) && op.Op == "dial"
}

// sendFault is what an error of a post means to the outbox: a token and a permission can be mended, so the post waits for that.
func sendFault(err error) error {
	switch core.CategoryOf(err) {
	case core.ProviderAuthentication:
		return core.Wrap(core.DeliveryLater, err, "%s", core.MessageOf(err))
	case core.Unsupported:
		return core.Wrap(core.DeliveryForbidden, err, "%s", core.MessageOf(err))
	}
	return err
}
