package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

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

// Checkup finds out whether this configuration works with this Discord, by asking Discord. It changes nothing, there or here, and what
// it finds holds no secret.
type Checkup struct {
	Config    Config
	Approvers []string                                          // all that are named, those of other platforms too
	Listen    string                                            // where gatehouse hears HTTP
	Recent    func(context.Context) ([]core.EventRecord, error) // the latest events that came from Discord, latest first. Nil: that can't be told
	Now       func() time.Time                                  // nil: time.Now
}

// Run makes the checks. Where the token is worth nothing, only what needs no Discord is checked.
func (c Checkup) Run(ctx context.Context) []Check {
	if c.Now == nil {
		c.Now = time.Now
	}
	e := &examination{Checkup: c, rest: newRest(c.Config, c.Now, func(error) {}), log: slog.New(slog.DiscardHandler)}
	defer e.rest.close()
	if c.Recent != nil {
		e.recent, e.recentErr = c.Recent(ctx)
	}
	if e.token(ctx) {
		e.content()
		e.interactions()
		e.gateway(ctx)
		e.commands(ctx)
		e.servers(ctx)
		e.events()
		e.approvers(ctx)
	} else {
		e.events()
	}
	return e.found
}

// examination is a checkup under way.
type examination struct {
	Checkup
	rest      *rest
	log       *slog.Logger
	recent    []core.EventRecord
	recentErr error
	me        self
	app       application
	guilds    []guild
	sites     []site // those of them that were looked at
	found     []Check
}

// self is the bot as a user.
type self struct {
	ID   string `json:"id"`
	Name string `json:"username"`
}

// application is what is read of the bot's application.
type application struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Flags    int64  `json:"flags"`
	Key      string `json:"verify_key"`
	Endpoint string `json:"interactions_endpoint_url"`
}

// guild is a server that the bot is in.
type guild struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Owner bool   `json:"owner"` // it is the bot's own
}

func (e *examination) add(name string, state State, what, mend string) {
	e.found = append(e.found, Check{Name: Name + " " + name, State: state, What: what, Mend: mend})
}

func (e *examination) get(ctx context.Context, path string, answer any) error {
	return e.rest.call(ctx, http.MethodGet, path, nil, answer)
}

// page is the address of one page of the application's settings, or of the list of them where it is not known.
func (e *examination) page(name string) string {
	const all = "https://discord.com/developers/applications"
	if !isSnowflake(e.app.ID) {
		return all
	}
	return all + "/" + e.app.ID + "/" + name
}

// unasked adds what is to be said where Discord could not be asked for something, and reports whether that is so.
func (e *examination) unasked(name string, err error) bool {
	if err == nil {
		return false
	}
	const again = "Run gatehouse doctor again. If it stays so, see https://discordstatus.com, a proxy (HTTPS_PROXY), and DISCORD_API_URL."
	var late net.Error
	var said *refusal
	switch c := core.CategoryOf(err); {
	case core.RetryAfterOf(err) > 0:
		e.add(name, Warn, "Discord has been asked too much lately, so this could not be found out.", "Run gatehouse doctor again in a minute.")
	case c == core.DeliveryLater:
		e.add(name, Fail, fmt.Sprintf("Discord can't be reached at %s (%v).", e.Config.APIURL, inner(err)),
			"See whether this machine reaches it: the network, its name service, a proxy (HTTPS_PROXY), DISCORD_API_URL.")
	case errors.As(err, &said) && said.Code != 0:
		e.add(name, Fail, fmt.Sprintf("Discord refuses to tell: %s (%d).", said.Word, said.Code), "Run gatehouse doctor again. If it stays so, invite the bot again.")
	case errors.As(err, &late) && late.Timeout():
		e.add(name, Fail, fmt.Sprintf("Discord does not answer in time at %s.", e.Config.APIURL), again)
	default:
		e.add(name, Fail, fmt.Sprintf("What answers at %s does not answer as Discord does.", e.Config.APIURL), again)
	}
	return true
}

// inner is an error of a call without what is said around it.
func inner(err error) error {
	var call *url.Error
	if errors.As(err, &call) {
		return call.Err
	}
	var ours *core.Error
	for errors.As(err, &ours) && ours.Err != nil {
		err = ours.Err
	}
	return err
}

// plain is a name of Discord's as a terminal may show it.
func plain(s string) string {
	word, left := head(oneLine(clean(s)), maxPerson)
	if left > 0 {
		word += "…"
	}
	return orNone(word)
}
