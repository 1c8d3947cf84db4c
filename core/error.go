package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Error is the one error type that crosses packages. Category decides what happens next, and whether people are shown
// Message or a sentence in its place (Sentence); whoever runs gatehouse reads Message and Err in the log. Categories
// are compared by type (CategoryOf), never by text.
type Error struct {
	Category   Category
	Reason     Category      // picks a sentence that says more than the category's; "" = none does
	Message    string        // a sentence: what happened, and what to do
	RetryAfter time.Duration // for rate limits: how long the other side asks to wait; 0 = unknown
	Err        error         // the cause; may be nil
}

// Error gives the category, the sentence and the cause, for logs.
func (e *Error) Error() string {
	text := string(e.Category)
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCategory makes *Error a Categorized error.
func (e *Error) ErrorCategory() Category { return e.Category }

// Categorized is an error with a category. Packages with error types of their own implement it, so that CategoryOf
// finds it.
type Categorized interface {
	error
	ErrorCategory() Category
}

// Errorf makes an Error whose message is formatted for people. For an error with a cause use Wrap.
func Errorf(c Category, format string, args ...any) *Error {
	return &Error{Category: c, Message: fmt.Sprintf(format, args...)}
}

// ArgumentFaults are what is wrong with the arguments of a call, by their names: the cause of an Error that says all of
// it in one sentence.
type ArgumentFaults map[string]string

// Error says how many there are. What is wrong may quote a value, which is nothing for a log.
func (f ArgumentFaults) Error() string { return fmt.Sprintf("%d arguments do not fit", len(f)) }

// Because gives an error the reason that picks its sentence.
func (e *Error) Because(reason Category) *Error {
	e.Reason = reason
	return e
}

// Wrap makes an Error with a cause that is not shown to people; but a lack of file handles is said, whatever failed for
// it.
func Wrap(c Category, err error, format string, args ...any) *Error {
	message, why := fmt.Sprintf(format, args...), NoHandles(err)
	if !strings.HasPrefix(message, why) { // it is not of an error that says so
		message = why + message
	}
	return &Error{Category: c, Message: message, Err: err}
}

// NoHandles says that an error comes from a lack of file handles, before what it says itself; "" if it does not.
// Whatever needs a file or a connection fails then, and what failed is not at fault.
func NoHandles(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "gatehouse has no file handles left: it has as many files and connections open as it may. Raise the " +
			"limit to 1024 or more (ulimit -n, LimitNOFILE of systemd, --ulimit nofile of Docker), and start " +
			"gatehouse again. What failed for it: "
	case errors.Is(err, syscall.ENFILE):
		return "The system has no file handles left. Close other programs, or raise fs.file-max. What failed for it: "
	}
	return ""
}

// CategoryOf walks the chain of causes and gives the outermost category that is not a mere carrier (graph-engine §4):
// the engine wraps a node's error as node_exception, and the node's own category is the one to report. Without any
// other category the carrier's is given; an error with none is Internal; nil is "".
func CategoryOf(err error) Category {
	if err == nil {
		return ""
	}
	if c := reportable(err); c != nil {
		return c.ErrorCategory()
	}
	return Internal
}

// reportable is the link of the chain that CategoryOf reads its category from, nil if no link has one. Its message is
// the upstream diagnostic that a user can act on, without the carrier's wrapping.
func reportable(err error) Categorized {
	var carrier, found Categorized
	walk(err, func(link error) bool {
		c, ok := link.(Categorized) //nolint:errorlint // walk visits every link
		if !ok || c.ErrorCategory() == "" {
			return true
		}
		if !carriers[c.ErrorCategory()] {
			found = c
			return false
		}
		if carrier == nil {
			carrier = c
		}
		return true
	})
	if found != nil {
		return found
	}
	return carrier
}

// carriers wrap an error that has, or may have, a category of its own.
var carriers = map[Category]bool{NodeException: true, EdgeException: true}

// MessageOf is the reportable link's message for people, or "" if there is none.
func MessageOf(err error) string {
	var e *Error
	if c := reportable(err); c != nil && errors.As(error(c), &e) {
		return e.Message
	}
	return ""
}

// ReasonOf is the outermost reason in the chain, "" if there is none.
func ReasonOf(err error) (reason Category) {
	walk(err, func(link error) bool {
		if e, ok := link.(*Error); ok { //nolint:errorlint // walk visits every link
			reason = e.Reason
		}
		return reason == ""
	})
	return reason
}

// RetryAfterOf is the longest RetryAfter in the chain.
func RetryAfterOf(err error) time.Duration {
	var wait time.Duration
	walk(err, func(link error) bool {
		if e, ok := link.(*Error); ok && e.RetryAfter > wait { //nolint:errorlint // walk visits every link
			wait = e.RetryAfter
		}
		return true
	})
	return wait
}

// walk visits every link of the chain, outermost first, both single and joined causes, until visit returns false.
func walk(err error, visit func(error) bool) bool {
	for err != nil {
		if !visit(err) {
			return false
		}
		switch e := err.(type) { //nolint:errorlint // this is the walk
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range e.Unwrap() {
				if !walk(inner, visit) {
					return false
				}
			}
			return true
		default:
			return true
		}
	}
	return true
}

// Sentences replace what people read of errors, by category: the built-in sentences are in Sentence. A nil map replaces
// nothing.
type Sentences map[Category]string

// OwnMessage stands in a sentence for the error's own message. Only the built-in sentences of categories whose messages
// are all written here, for people, have it. What vendors, servers and platforms say never takes its place.
const OwnMessage = "{message}"

// notSetUp is what people read of a fault that only whoever runs the bot can mend.
const notSetUp = "The bot is not set up correctly. Ask whoever runs it to run gatehouse doctor."

// Sentence is what people read of an error of a category. "" is the text of its bucket, which says nothing of the
// error; every user-correctable category has a sentence, since that bucket's text has a place for it.
//
// Decision (2026-11): the category decides, not the place where the error is made. Rejected: to trust each place to
// keep what others say out of Error.Message. One that forgets it sends a vendor's key to a chat.
func Sentence(c Category) string {
	switch c {
	case MessageTooLarge, RateLimited, LimitReached, ScriptFailed, Stopped, ChatMessageShapeInvalid,
		NotFound, Invalid, NotAllowed, PolicyDenied, OutcomeUnknown, ToolUnknown, ToolArguments,
		SuspensionRecordInvalid,
		ApprovalMissing, ApprovalMismatch, ApprovalStale, ApprovalDecided, ApprovalExpired, ApprovalDenied,
		ApprovalCanceled,
		ModerationRefused, LinkRefused:
		return OwnMessage
	case ContentRefused:
		return "My answer could not be posted here. " + OwnMessage
	case RestRefused:
		return "The rest of my answer could not be posted here. " + OwnMessage
	case ModelBusy:
		return "The model is answering as many people as it can at once. Try again in a few minutes."
	case AnswerGarbled:
		return "The model wrote something that can't be read. Try again."
	case QuotaUsedUp, ProviderAuthentication, ProviderInvalidModel, ProviderInvalidRequest, PromptNotFound,
		PromptRenderError,
		Unauthorized, Unsupported, DeliveryFailed, DeliveryForbidden, DeliveryInDoubt:
		return notSetUp
	case ConversationTooLong:
		return "It is too long for the model. Write a shorter message, or start a new conversation with !new."
	case ProviderUnsupportedContent:
		return "The model can't read a part of it, such as an image or a file. Write it as text."
	case AnswerDeclined:
		return "The model declined to answer."
	case AnswerCutOff:
		return "The model's answer was too long and was cut off before it said anything. Ask for less at a time."
	case AnswerEmpty:
		return "The model gave an answer with nothing in it. Your message is fine: try again."
	case ProviderInvalidResponse, StructuredOutputInvalid:
		return "The model gave an answer that can't be used. If other words don't help, ask whoever runs the bot to " +
			"run gatehouse doctor."
	case ToolFailed:
		return "A tool failed. Whoever runs the bot finds the reason in its log."
	case SuspensionPayloadInvalid, HarnessCorrelationFailed, HarnessPathAmbiguous:
		return "This answer fits nothing that waits for one."
	case StoreUnreadable, StoreGone, StoreNewer:
		return "I can't read my database now. Try again later; whoever runs the bot finds the reason with gatehouse " +
			"doctor."
	}
	return ""
}

// Of is what people read of an error: its sentence, by its category or by its reason where that is narrower. "" is the
// text of its bucket.
func (s Sentences) Of(err error) string {
	c := narrowest(err)
	text, replaced := s[c]
	if !replaced {
		text = Sentence(c)
		if wait := RetryAfterOf(err); IsProviderOutage(c) && wait > 0 {
			text = "The model is busy. Try again " + In(wait+time.Minute/2) + "."
		}
	}
	return strings.ReplaceAll(text, OwnMessage, MessageOf(err))
}

// ForOperators reports whether only whoever runs the bot can mend an error.
func ForOperators(err error) bool { return Sentence(narrowest(err)) == notSetUp }

// narrowest is what says the most of an error.
func narrowest(err error) Category { return cmp.Or(ReasonOf(err), CategoryOf(err)) }

// In returns when something happens, as people say it in any time zone.
func In(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "in less than a minute"
	case d < 2*time.Minute:
		return "in a minute"
	case d < 2*time.Hour:
		return fmt.Sprintf("in %d minutes", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("in %d hours", d/time.Hour)
	}
	return fmt.Sprintf("in %d days", d/(24*time.Hour))
}

// Categories are all categories that have a bucket, sorted.
func Categories() []Category {
	all := make([]Category, 0, len(buckets))
	for c := range buckets {
		all = append(all, c)
	}
	slices.Sort(all)
	return all
}
