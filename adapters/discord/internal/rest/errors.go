package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Refusal is Discord's answer to a call that it refused.
type Refusal struct {
	Status  int
	Code    int // Discord's own; 0: none
	Message string
	Proxy   bool // the answer is not Discord's own, so it says nothing about the requested object
}

// Error returns the text for the log.
func (r *Refusal) Error() string {
	return fmt.Sprintf("HTTP %d, code %d: %s", r.Status, r.Code, r.Message)
}

// IsRefusal reports whether Discord refused with one of the codes, discordgo.ErrCode….
func IsRefusal(err error, codes ...int) bool {
	r, ok := errors.AsType[*Refusal](err)
	return ok && slices.Contains(codes, r.Code)
}

// IsGone reports whether Discord itself says that the object does not exist, or that the bot may not see it.
func IsGone(err error) bool {
	r, ok := errors.AsType[*Refusal](err)
	return ok && !r.Proxy && (r.Status == http.StatusNotFound || r.Status == http.StatusForbidden)
}

// later are the codes of calls that may succeed later, whatever the status: slow mode, the write limits of a channel
// and of a server, edits of an announcement and of an old message, direct messages to too many people, messages
// switched off, an overload. discordgo does not define 40062: the service resource is being rate limited.
var later = []int{
	discordgo.ErrCodeThisActionCannotBePerformedDueToSlowmodeRateLimit, discordgo.ErrCodeChannelHasHitWriteRateLimit,
	discordgo.ErrCodeTheWriteActionYouArePerformingOnTheServerHasHitTheWriteRateLimit,
	discordgo.ErrCodeMessageCannotBeEditedDueToAnnouncementRateLimits,
	discordgo.ErrCodeMaximumNumberOfEditsToMessagesOlderThanOneHourReached,
	discordgo.ErrCodeOpeningDirectMessagesTooFast,
	discordgo.ErrCodeSendMessagesHasBeenTemporarilyDisabled, 40062, discordgo.ErrCodeAPIResourceIsCurrentlyOverloaded,
}

const lateInteraction = "It is too late to answer this interaction."

// reasons has the category and the explanation of some codes.
var reasons = map[int]struct {
	category core.Category
	text     string
}{
	discordgo.ErrCodeUnknownChannel: {
		core.DeliveryFailed, "The channel does not exist: it was deleted, or the bot is no longer in its server.",
	},
	discordgo.ErrCodeUnknownMessage: {core.DeliveryFailed, "The message does not exist: it was deleted."},
	discordgo.ErrCodeMissingAccess: {
		core.Unsupported, "The bot does not see this channel. Give it the permission View Channel there; gatehouse " +
			"doctor shows where one is missing.",
	},
	discordgo.ErrCodeMissingPermissions: {
		core.Unsupported, "The bot lacks a permission for this in this channel: Send Messages, in a thread Send " +
			"Messages in Threads. gatehouse doctor shows which.",
	},
	discordgo.ErrCodeCannotEditFromAnotherUser: {
		core.DeliveryFailed, "The message was written by somebody else, so the bot can't change it.",
	},
	discordgo.ErrCodeCannotSendMessagesToThisUser: {
		core.DeliveryFailed, "This person does not accept direct messages from the bot; they can allow them in the " +
			"privacy settings of the server.",
	},
	discordgo.ErrCodeInvalidFormBody: {core.DeliveryFailed, "Discord refuses the message as malformed."},
	discordgo.ErrCodePerformedOperationOnArchivedThread: {core.DeliveryFailed,
		"The thread is archived, and the bot may not open it again. Somebody with the permission Manage Threads can."},
	discordgo.ErrCodeThreadIsLocked: {core.DeliveryFailed,
		"The thread is locked. Somebody with the permission Manage Threads can unlock it, or give the bot that " +
			"permission."},
	discordgo.ErrCodeMaximumNumberOfActiveThreadsReached: {
		core.DeliveryFailed, "This server has as many open threads as Discord allows. Archive some.",
	},
	discordgo.ErrCodeInvalidWebhookTokenProvided: {core.DeliveryFailed, lateInteraction},
	discordgo.ErrCodeUnknownInteraction:          {core.DeliveryFailed, lateInteraction},
	discordgo.ErrCodeUnknownWebhook:              {core.DeliveryFailed, lateInteraction},
}

// errorOf returns the error of a call, with the categories that package chat defines; nil if the call succeeded.
func errorOf(got response, body []byte, err error) error {
	switch got.status {
	case 0: // there was no answer
		return outbound.TransportError("Discord", err)
	case http.StatusTooManyRequests:
		return rateLimited(got, body)
	}
	r := refusalOf(got, body)
	switch {
	case slices.Contains(later, r.Code):
		return rateLimited(got, body)
	case got.status >= http.StatusInternalServerError:
		return core.Wrap(core.DeliveryInDoubt, r, "Discord had an internal error (%d).", got.status)
	case got.status >= http.StatusMultipleChoices && r.Proxy:
		return outbound.NotOwn("Discord", got.status, r)
	case got.status >= http.StatusMultipleChoices:
		return refused(r)
	case err != nil:
		return core.Wrap(core.DeliveryInDoubt, err, "Discord's answer was lost.")
	}
	return nil
}

// blocked are the codes that refuse a message for what it says. discordgo does not define them.
var blocked = map[int]struct {
	reason core.Category
	text   string // for people: it follows a sentence about the answer that is not there
}{
	200000: {core.ModerationRefused, "Discord's automatic moderation (AutoMod) of this server refused what it says. " +
		"Ask me to put it another way, or ask a moderator to change the rule."},
	240000: {
		core.LinkRefused, "Discord's filter for harmful links refused a link in it. Ask me to answer without links.",
	},
	20009: {"", "Discord's filter for explicit content refused it. Ask me to put it another way."},
}

func refused(r *Refusal) error {
	if why, ok := blocked[r.Code]; ok {
		return core.Wrap(core.ContentRefused, r, "%s", why.text).Because(why.reason)
	}
	if reason, ok := reasons[r.Code]; ok {
		return core.Wrap(reason.category, r, "%s", reason.text)
	}
	switch {
	case r.Status == http.StatusUnauthorized && r.Proxy:
		return core.Wrap(core.DeliveryLater, r, "A proxy in front of Discord refuses the bot's calls (%d).", r.Status)
	case r.Status == http.StatusUnauthorized:
		return core.Wrap(core.Unauthorized, r,
			"Discord refuses the token. Reset it on the page Bot of your application, and set DISCORD_BOT_TOKEN to "+
				"the new one.")
	case r.Status == http.StatusForbidden:
		return core.Wrap(core.Unsupported, r,
			"Discord does not let the bot do this (%d). gatehouse doctor shows which permission is missing.", r.Code)
	}
	return core.Wrap(core.DeliveryFailed, r, "Discord refuses the call: %s (%d).", r.Message, r.Code)
}

// maxMessage is how much of a refusal's own text is kept.
const maxMessage = 300

// refusalOf reads a refusal. It is Discord's own if it has a code and a message, or Discord's headers about rate
// limits. Discord's own details about a form's faults are added for the log.
func refusalOf(got response, body []byte) *Refusal {
	var answer struct {
		Code    *int            `json:"code"`
		Message *string         `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	own := json.Unmarshal(body, &answer) == nil && answer.Code != nil && answer.Message != nil && *answer.Message != ""
	if !own && !got.counted() {
		return &Refusal{Status: got.status, Message: "an answer that is not Discord's", Proxy: true}
	}
	if !own {
		answer.Code, answer.Message = new(int), new(string)
	}
	text := *answer.Message
	if len(answer.Errors) > 0 {
		text += " " + string(answer.Errors)
	}
	if len(text) > maxMessage {
		text = text[:maxMessage]
	}
	return &Refusal{Status: got.status, Code: *answer.Code, Message: safetext.Clean(text)}
}

// never is more than any wait that Discord means.
const never = 365 * 24 * time.Hour

// rateLimited returns the error of a 429 or of an equivalent code. The body has the wait to the millisecond, the header
// in whole seconds. A proxy sends only the header.
func rateLimited(got response, body []byte) error {
	var answer struct {
		RetryAfter float64 `json:"retry_after"`
	}
	seconds := 0.0
	if err := json.Unmarshal(body, &answer); err == nil {
		seconds = answer.RetryAfter
	}
	if header, err := strconv.ParseFloat(got.header.Get("Retry-After"), 64); err == nil && seconds <= 0 {
		seconds = header
	}
	wait := outbound.MinRetryAfter
	if seconds > 0 && !math.IsNaN(seconds) {
		wait = time.Duration(min(seconds, never.Seconds()) * float64(time.Second))
	}
	return outbound.Wait(wait, refusalOf(got, body), "Discord asks to wait.")
}
