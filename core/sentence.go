package core

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sentences replace what people read of errors, by category: the built-in sentences are in Sentence. A nil map replaces nothing.
type Sentences map[Category]string

// OwnMessage stands in a sentence for the error's own message. Only the built-in sentences of categories whose messages are all written
// here, for people, have it. What vendors, servers and platforms say never takes its place.
const OwnMessage = "{message}"

// notSetUp is what people read of a fault that only whoever runs the bot can mend.
const notSetUp = "The bot is not set up correctly. Ask whoever runs it to run gatehouse doctor."

// Sentence is what people read of an error of a category. "" is the text of its bucket, which says nothing of the error; every
// user-correctable category has a sentence, since that bucket's text has a place for it.
//
// Decision (2026-11): the category decides, not the place where the error is made. Rejected: to trust each place to keep what others
// say out of Error.Message. One that forgets it sends a vendor's key to a chat.
func Sentence(c Category) string {
	switch c {
	case MessageTooLarge, RateLimited, LimitReached, ScriptFailed, Stopped, ChatMessageShapeInvalid,
		NotFound, Invalid, NotAllowed, PolicyDenied, OutcomeUnknown, ToolUnknown, ToolArguments, SuspensionRecordInvalid,
		ApprovalMissing, ApprovalMismatch, ApprovalStale, ApprovalDecided, ApprovalExpired, ApprovalDenied, ApprovalCanceled,
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
	case QuotaUsedUp, ProviderAuthentication, ProviderInvalidModel, ProviderInvalidRequest, PromptNotFound, PromptRenderError,
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
		return "The model gave an answer that can't be used. If other words don't help, ask whoever runs the bot to run gatehouse doctor."
	case ToolFailed:
		return "A tool failed. Whoever runs the bot finds the reason in its log."
	case SuspensionPayloadInvalid, HarnessCorrelationFailed, HarnessPathAmbiguous:
		return "This answer fits nothing that waits for one."
	case StoreUnreadable, StoreNewer:
		return "I can't read my database now. Try again later; whoever runs the bot finds the reason with gatehouse doctor."
	}
	return ""
}

// Of is what people read of an error: its sentence, by its category or by its reason where that is narrower. "" is the text of its
// bucket.
func (s Sentences) Of(err error) string {
	c := cmp.Or(ReasonOf(err), CategoryOf(err))
	text, replaced := s[c]
	if !replaced {
		text = Sentence(c)
		if wait := RetryAfterOf(err); IsProviderOutage(c) && wait > 0 {
			text = "The model is busy. Try again " + In(wait+time.Minute/2) + "."
		}
	}
	return strings.ReplaceAll(text, OwnMessage, MessageOf(err))
}

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
