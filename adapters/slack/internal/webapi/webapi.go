// Package webapi makes slack-go's client of Slack's Web API and converts the errors of its calls.
//
// slack-go has the endpoints, their arguments and answers, and the errors: a refusal, a rate limit, a status. Here
// errors get core's categories, as adapters/internal/outbound lists them, and of an answer only what gatehouse reads
// reaches slack-go (answer.go). Nothing is retried here; the outbox and the dispatcher do that.
package webapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// Slack's names: Platform in ids, Title for people.
const (
	Platform = "slack"
	Title    = "Slack"
)

// Config is the configuration of the Web API.
type Config struct {
	URL      string
	BotToken string
	AppToken string // for apps.connections.open only
}

// New makes a client with a connection pool of its own. clock learns from the answers. New calls scopes with the scopes
// of the bot's token whenever an answer contains them.
func New(c Config, clock *outbound.Clock, scopes func(map[string]bool)) (*api.Client, *http.Client) {
	own := &http.Client{
		Timeout: outbound.CallTimeout, Transport: outbound.Transport(),
		// Slack's API redirects nobody; what does would get the token
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return api.New(c.BotToken, api.OptionAPIURL(address(c)), api.OptionHTTPClient(reader{own, clock}),
		api.OptionAppLevelToken(c.AppToken),
		api.OptionOnResponseHeaders(func(method string, h http.Header) {
			list := h.Get("X-OAuth-Scopes")
			if list == "" || method == "apps.connections.open" { // those are the app token's
				return
			}
			all := map[string]bool{}
			for scope := range strings.SplitSeq(list, ",") {
				all[strings.TrimSpace(scope)] = true
			}
			scopes(all)
		})), own
}

// RefusesApp asks Slack, by auth.test, whether it refuses the app-level token. It does not if it can't be asked, or if
// it answers that a token of this type has no identity.
func RefusesApp(ctx context.Context, c Config, clock *outbound.Clock, with *http.Client) bool {
	app := api.New(c.AppToken, api.OptionAPIURL(address(c)), api.OptionHTTPClient(reader{with, clock}))
	_, err := app.AuthTestContext(ctx)
	return core.CategoryOf(Error(err)) == core.Unauthorized
}

// address returns the address of the Web API as slack-go needs it.
func address(c Config) string { return strings.TrimSuffix(c.URL, "/") + "/" }

// The domains of Slack, and of GovSlack.
const (
	domain    = "slack.com"
	govDomain = "slack-gov.com"
)

// OwnHosts are Slack's own hosts, which may receive the token. A dot stands for all that is within a domain.
var OwnHosts = []string{domain, "." + domain, govDomain, "." + govDomain}

func within(host, domain string) bool { return host == domain || strings.HasSuffix(host, "."+domain) }

// AppsPage returns the page with the list of a person's apps, which GovSlack has on its own domain.
func (c Config) AppsPage() string {
	if u, err := url.Parse(c.URL); err == nil && within(u.Hostname(), govDomain) {
		return "https://api." + govDomain + "/apps"
	}
	return "https://api." + domain + "/apps"
}

// UserID parses the id of a person, slack:U123. Slack's ids of people begin with U or W.
func UserID(id string) (user string, ok bool) {
	user, ok = strings.CutPrefix(id, Platform+":")
	return user, ok && (strings.HasPrefix(user, "U") || strings.HasPrefix(user, "W"))
}

// GroupID parses the id of a user group, slack:S456.
func GroupID(id string) (group string, ok bool) {
	group, ok = strings.CutPrefix(id, Platform+":")
	return group, ok && strings.HasPrefix(group, "S")
}

// DisplayName returns a person's name in Slack, "" if they have none.
func DisplayName(u *api.User) string {
	trim := strings.TrimSpace
	return cmp.Or(trim(u.Profile.DisplayName), trim(u.Profile.RealName), trim(u.RealName), trim(u.Name))
}

// Slack's error codes, by their meaning.
var (
	tokenRefused = []string{
		"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "no_permission",
		"ekm_access_denied",
		"team_access_not_granted", "org_login_required",
	}
	// the call broke somewhere in the middle
	maybeDone = []string{"internal_error", "fatal_error", "request_timeout"}
	// the call was not begun
	notBegun = []string{"ratelimited", "rate_limited", "service_unavailable", "team_added_to_org"}

	// notShared: what the message links to may not be shared with other organizations.
	notShared = []string{"slack_connect_file_link_sharing_blocked", "slack_connect_canvas_sharing_blocked",
		"slack_connect_lists_sharing_blocked"}

	// elsewhere: the refusal is about the conversation, the message that is edited, the person or the app, whatever the
	// text.
	elsewhere = []string{
		"channel_type_not_supported", "is_inactive", "thread_not_found", "cannot_reply_to_message",
		"message_not_found", "cant_update_message", "edit_window_closed",
		"user_not_found", "user_not_in_channel",
		"user_disabled", "cannot_dm_bot", "access_denied", "not_allowed_token_type",
		"enterprise_is_restricted", "team_not_found",
		"two_factor_setup_required", "message_limit_exceeded", "method_deprecated", "deprecated_endpoint",
	}

	// noSockets: the app may not open Socket Mode connections.
	noSockets = []string{"link_disabled", "socket_mode_not_enabled", "forbidden_team", "app_not_installed"}
)

const notThere = "The bot may not write in this channel. Invite it there (/invite), or let it post in the settings " +
	"of the channel."

// mendable are the refusals of a post that somebody can end, with who does how.
var mendable = map[string]string{
	"not_in_channel":                           notThere,
	"restricted_action":                        notThere,
	"restricted_action_read_only_channel":      notThere,
	"restricted_action_thread_only_channel":    notThere,
	"restricted_action_non_threadable_channel": notThere,
	"restricted_action_thread_locked":          notThere,
	"channel_not_found": "Slack does not show this channel to the bot: it is private and the bot is not in it, or it " +
		"was deleted. Invite the bot there (/invite).",
	"is_archived": "The channel is archived. A member can unarchive it in the settings of the channel.",
	"external_channel_migrating": "Slack is moving this shared channel to another workspace, and takes no messages " +
		"meanwhile. It ends by itself; if it does not, an admin of the workspace can ask Slack's support.",
	"accesslimited": "This workspace limits what the app may reach. An admin of the workspace can allow the app " +
		"there, in the settings for apps.",
	"messages_tab_disabled": "The app takes no direct messages. Switch on the Messages Tab under App Home of your " +
		"app.",
}

// Error converts the error of a call to one of core's categories, as adapters/internal/outbound lists them.
func Error(err error) error {
	var limited *api.RateLimitedError
	var refusal api.SlackErrorResponse
	var status api.StatusCodeError
	var number *strconv.NumError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &limited):
		return outbound.Wait(max(limited.RetryAfter, outbound.MinRetryAfter), err, "Slack asks to wait.")
	case errors.As(err, &number): // a 429 whose Retry-After is not a whole number
		return outbound.Wait(outbound.MinRetryAfter, err, "Slack asks to wait.")
	case errors.As(err, &refusal):
		return refusalError(refusal)
	case errors.As(err, &status):
		return statusError(status)
	}
	return outbound.TransportError(Title, err)
}

// scopeName matches the name of a scope.
var scopeName = regexp.MustCompile(`^[a-z_.]{1,40}(:[a-z_.]{1,40})*$`)

func refusalError(r api.SlackErrorResponse) error {
	switch {
	case slices.Contains(tokenRefused, r.Err):
		return core.Wrap(core.Unauthorized, r,
			"Slack refuses the token (%s). Install the app again and set SLACK_BOT_TOKEN to the new token.", r.Err)
	case r.Err == "missing_scope" && scopeName.MatchString(r.Needed):
		return core.Wrap(core.Unsupported, r, "The bot's token lacks the scope %s.", r.Needed)
	case r.Err == "missing_scope":
		return core.Wrap(core.Unsupported, r, "The bot's token lacks a scope. gatehouse doctor says which.")
	case slices.Contains(maybeDone, r.Err):
		return core.Wrap(core.DeliveryInDoubt, r, "Slack failed during the call (%s).", r.Err)
	case slices.Contains(notBegun, r.Err):
		return outbound.Wait(outbound.MinRetryAfter, r, "Slack asks to wait.")
	}
	return core.Wrap(core.DeliveryFailed, r, "Slack refuses it: %s.", r.Err)
}

func statusError(s api.StatusCodeError) error {
	switch {
	case s.Code == http.StatusTooManyRequests:
		return outbound.Wait(outbound.MinRetryAfter, s, "Slack asks to wait.")
	case s.Code >= http.StatusInternalServerError:
		return core.Wrap(core.DeliveryInDoubt, s, "Slack failed during the call (%d).", s.Code)
	}
	return outbound.NotOwn(Title, s.Code, s)
}

// SendError converts, for the outbox, an error from Error of a call that posts or edits.
func SendError(err error) error {
	if mend := mendable[code(err)]; mend != "" {
		return core.Wrap(core.DeliveryForbidden, err, "%s", mend)
	}
	if IsRefusal(err, notShared...) {
		return core.Wrap(core.ContentRefused, err,
			"This workspace does not let links to its files, canvases and lists be "+
				"shared in Slack Connect. Ask me to answer without such links.")
	}
	return outbound.SendError(err)
}

// SocketError is Error for the request of a Socket Mode connection. A permanent refusal is unauthorized or unsupported.
func SocketError(err error) error {
	fault := Error(err)
	switch {
	case SocketsOff(err):
		return SocketsOffError(err)
	case core.CategoryOf(fault) == core.Unauthorized, IsRefusal(err, "not_allowed_token_type"):
		return core.Wrap(core.Unauthorized, err,
			"Slack refuses SLACK_APP_TOKEN. Make a new app-level token with the scope connections:write, under Basic "+
				"Information of your app.")
	case core.CategoryOf(fault) == core.Unsupported:
		return core.Wrap(core.Unsupported, err,
			"SLACK_APP_TOKEN lacks the scope connections:write. Make a new app-level token, under Basic Information "+
				"of your app.")
	}
	return fault
}

// SocketsOff reports whether Slack refuses all Socket Mode connections of this app.
func SocketsOff(err error) bool { return IsRefusal(err, noSockets...) }

// SocketsOffError returns the error for an app that may not open Socket Mode connections.
func SocketsOffError(err error) error {
	return core.Wrap(core.Unsupported, err,
		"Socket Mode is switched off for this app. Switch it on under Socket Mode of your app, or use "+
			"SLACK_SIGNING_SECRET without SLACK_APP_TOKEN.")
}

// IsRefusal reports whether Slack refused a call with one of the error codes.
func IsRefusal(err error, words ...string) bool {
	return slices.Contains(words, code(err))
}

// RefusesContent reports whether Slack refused a call that posts or edits because of what is said, or how. An error
// code that is not known counts as one.
func RefusesContent(err error) bool {
	var refusal api.SlackErrorResponse
	return errors.As(err, &refusal) && core.CategoryOf(refusalError(refusal)) == core.DeliveryFailed &&
		mendable[refusal.Err] == "" && !slices.Contains(elsewhere, refusal.Err)
}

// code returns the error code with which Slack refused a call, "" if it did not.
func code(err error) string {
	var refusal api.SlackErrorResponse
	_ = errors.As(err, &refusal)
	return refusal.Err
}

// Refusal returns Slack's error code if Slack refused a call, "" for an error of any other kind.
func Refusal(err error) string {
	var refusal api.SlackErrorResponse
	if !errors.As(err, &refusal) || core.CategoryOf(refusalError(refusal)) == core.DeliveryInDoubt {
		return ""
	}
	return refusal.Error()
}
