package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// State says how a check came out.
type State string

// The states of a check. A warning is something that somebody may want as it is.
const (
	OK   State = "ok"
	Warn State = "warn"
	Fail State = "fail"
)

// Check is what was found out about one thing: What was found, and where it is not as it should be how to Mend it.
type Check struct {
	Name  string
	State State
	What  string
	Mend  string
}

// Checkup finds out whether this configuration works with this Slack, by asking Slack. It changes nothing, there or here, and what it
// finds holds no secret.
type Checkup struct {
	Config    Config
	Approvers []string                                 // all that are named, those of other platforms too
	Listen    string                                   // where gatehouse hears HTTP
	Quick     bool                                     // no socket is asked for
	Heard     func(context.Context) (time.Time, error) // when the last event came from Slack; the zero time: never. Nil: that can't be told
	Now       func() time.Time                         // nil: time.Now
}

// Run makes the checks. Without Slack itself, only what needs no Slack is checked.
func (c Checkup) Run(ctx context.Context) []Check {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Slack{Options: Options{Config: c.Config, Now: c.Now, Log: slog.New(slog.DiscardHandler)}, http: client(), unnamed: map[string]bool{}}
	s.api = api.New(c.Config.BotToken, api.OptionAPIURL(c.Config.apiURL()), api.OptionHTTPClient(s.http),
		api.OptionAppLevelToken(c.Config.AppToken), api.OptionOnResponseHeaders(s.sawScopes))
	defer s.http.CloseIdleConnections()
	e := &examination{Checkup: c, slack: s}
	if e.token(ctx) {
		e.scopes()
		e.socket(ctx)
		e.http()
		e.conversations(ctx)
		e.events(ctx)
		e.approvers(ctx)
	} else {
		e.http()
		e.events(ctx)
	}
	return e.found
}

// examination is a checkup under way.
type examination struct {
	Checkup
	slack *Slack
	app   string // the app's id; "" where it is not known
	found []Check
}

func (e *examination) add(name string, state State, what, mend string) {
	e.found = append(e.found, Check{Name: Name + " " + name, State: state, What: what, Mend: mend})
}

func (e *examination) page(name string) string { return page(e.app, name) }

// unasked adds what is to be said where Slack could not be asked for something, and reports whether that is so.
func (e *examination) unasked(name string, err error) bool {
	if err == nil {
		return false
	}
	const again = "Run gatehouse doctor again. If it stays so, see "
	fault := faultOf(err)
	var late net.Error
	switch c := core.CategoryOf(fault); {
	case core.RetryAfterOf(fault) > 0:
		e.add(name, Warn, "Slack has been asked too much lately, so this could not be found out.", "Run gatehouse doctor again in a minute.")
	case c == core.DeliveryLater:
		e.add(name, Fail, fmt.Sprintf("Slack can't be reached at %s (%v).", e.Config.APIURL, inner(err)),
			"See whether this machine reaches it: the network, its name service, a proxy (HTTPS_PROXY), SLACK_API_URL.")
	case refused(err):
		e.add(name, Fail, fmt.Sprintf("Slack refuses to tell: %v.", err), again+"whether an admin of the workspace has restricted the app.")
	case errors.As(err, &late) && late.Timeout():
		e.add(name, Fail, fmt.Sprintf("Slack does not answer in time at %s.", e.Config.APIURL), again+"https://slack-status.com, a proxy (HTTPS_PROXY), and SLACK_API_URL.")
	default:
		e.add(name, Fail, fmt.Sprintf("What answers at %s does not answer as Slack does (%v).", e.Config.APIURL, inner(err)),
			again+"https://slack-status.com, a proxy (HTTPS_PROXY), and SLACK_API_URL.")
	}
	return true
}

// refused reports Slack's own word that it will not.
func refused(err error) bool {
	var answer api.SlackErrorResponse
	return errors.As(err, &answer) && core.CategoryOf(refusal(answer)) != core.DeliveryInDoubt
}

// inner is an error of a call without the call around it.
func inner(err error) error {
	var call *url.Error
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}

// count puts a number before a word.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
