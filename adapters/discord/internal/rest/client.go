// Package rest calls Discord's REST API through discordgo's session, which has the token and reads the rate limit
// headers.
//
// The session's own retries are off, since the outbox retries. A call never waits for a rate limit: it fails at once
// with an error that has the time to wait. Calls count against the limit of their route and the global limit, of which
// posts leave some to other calls; refused calls also count against the number at which Discord bans an address. Each
// error has a core category and a sentence for people; see errors.go.
package rest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// Options configure a client. Token and URL are required.
type Options struct {
	Token  string
	URL    string           // the base URL, such as https://discord.com/api/v10
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // of the clock; nil: discard
	Health *outbound.Health // records the result of each call; nil: nothing does
}

// Client calls the REST API. It is safe for concurrent use.
type Client struct {
	url     string
	session *discordgo.Session
	http    *http.Client
	limits  *limits
	invalid *invalidRequests
	health  *outbound.Health
	clock   *outbound.Clock
}

// New makes a client. Nothing is connected before the first call.
func New(o Options) *Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Health == nil {
		o.Health = &outbound.Health{}
	}
	c := &Client{
		url: strings.TrimRight(o.URL, "/"), http: httpClient(), limits: newLimits(o.Now),
		invalid: newInvalidRequests(o.Now), health: o.Health,
		clock: &outbound.Clock{Title: "Discord", Now: o.Now, Log: o.Log},
	}
	c.session = &discordgo.Session{
		Token: "Bot " + o.Token, Client: c.http, Ratelimiter: discordgo.NewRatelimiter(), MaxRestRetries: 0,
		ShouldRetryOnRateLimit: false,
		// it writes to the standard log
		UserAgent: "DiscordBot (https://gatehouse.invalid, 1)", LogLevel: -1,
	}
	return c
}

// httpClient follows no redirect, which would take the token elsewhere.
func httpClient() *http.Client {
	return &http.Client{
		Timeout: outbound.CallTimeout, Transport: transport{outbound.Transport()},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close ends the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// HTTP returns a client for requests outside the API, such as the download of a file. It sends no token.
func (c *Client) HTTP() *http.Client { return c.http }

// Form is the body of a call that uploads files along with its JSON.
type Form struct {
	Payload any
	Files   []*discordgo.File
}

// Call calls an endpoint: one of discordgo's, such as discordgo.EndpointChannel(id), or the path after the API's
// version, such as /applications/@me. body is sent as JSON, or as a form if it is a Form. The response is decoded into
// answer. Each may be nil.
func (c *Client) Call(ctx context.Context, method, endpoint string, body, answer any) error {
	if wait := c.invalid.wait(); wait > 0 {
		return outbound.Wait(wait, nil,
			"Discord refused too many calls lately. gatehouse makes no calls for a while, so that Discord does not "+
				"ban this address. The log says what was refused.")
	}
	kind, raw, err := encode(body)
	if err != nil {
		return core.Wrap(core.Internal, err, "A call to Discord could not be encoded.")
	}
	path := pathOf(endpoint)
	route := routeOf(method, path)
	b, err := c.limits.enter(ctx, route, classOf(ctx, path))
	if err != nil {
		return err
	}
	var got response
	asked := c.clock.Now()
	timed, cancel := context.WithTimeout(got.in(ctx), outbound.CallTimeout)
	defer cancel()
	out, err := c.session.RequestWithLockedBucket(method, c.url+path, kind, raw, b.bucket, 0,
		discordgo.WithContext(timed))
	c.limits.leave(b)
	c.limits.share(route, got.header.Get("X-RateLimit-Bucket"))
	if got.status < http.StatusInternalServerError { // Discord's own
		c.clock.Answered(asked, got.header)
	}
	err = outbound.WithoutURL(err)
	fault := errorOf(got, out, err)
	if fault == nil && (answer != nil || len(out) > 0) {
		fault = read(got, out, answer)
	}
	if err == nil || ctx.Err() == nil { // otherwise the caller gave up, which says nothing about Discord
		c.health.Record(fault)
	}
	if fault != nil {
		c.learn(route, got, out, fault)
	}
	return fault
}

// read decodes the body of a good answer; answer may be nil. A page is no answer of Discord's.
func read(got response, body []byte, answer any) error {
	var raw json.RawMessage
	if answer == nil {
		answer = &raw
	}
	err := json.Unmarshal(body, answer)
	switch {
	case err == nil:
		return nil
	case json.Valid(body):
		return core.Wrap(core.DeliveryInDoubt, err, "Discord's answer can't be read.")
	}
	return outbound.NotOwn("Discord", got.status, err)
}

// Get reads an endpoint: a Call without a body.
func (c *Client) Get(ctx context.Context, endpoint string, answer any) error {
	return c.Call(ctx, http.MethodGet, endpoint, nil, answer)
}

// pathOf removes Discord's own address from one of discordgo's endpoints.
func pathOf(endpoint string) string {
	if path, ok := strings.CutPrefix(endpoint, discordgo.EndpointAPI); ok {
		return "/" + path
	}
	return endpoint
}

func encode(body any) (kind string, raw []byte, err error) {
	if form, ok := body.(Form); ok {
		return discordgo.MultipartBodyWithJSON(form.Payload, form.Files)
	}
	if body != nil {
		raw, err = json.Marshal(body)
	}
	return "application/json", raw, err
}

// Clock returns Discord's clock, by its answers.
func (c *Client) Clock() *outbound.Clock { return c.clock }

// learn records how long Discord wants no calls, and counts the refusals that lead to a ban.
func (c *Client) learn(route string, got response, body []byte, fault error) {
	counts := got.status == http.StatusUnauthorized || got.status == http.StatusForbidden
	if counts && got.reached(fault) || got.status == http.StatusTooManyRequests && got.scope() != scopeShared {
		c.invalid.count()
	}
	if e, ok := errors.AsType[*core.Error](fault); ok && c.invalid.many() && got.status == http.StatusForbidden {
		e.RetryAfter = InvalidWindow // one call that is refused again and again must leave room for the others
	}
	if wait := core.RetryAfterOf(fault); wait > 0 && got.status == http.StatusTooManyRequests {
		c.limits.hold(got.limited(route, body), wait)
	}
}

// Application is the part of the bot's application that is read; discordgo.Application lacks some of it.
type Application struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Flags    int64  `json:"flags"`
	Key      string `json:"verify_key"`
	Endpoint string `json:"interactions_endpoint_url"`
}

// ReadsContent reports whether the application is granted the content of messages that don't mention its bot: in
// general, or while it is in few servers. discordgo does not define these flags.
func (a Application) ReadsContent() bool { return a.Flags&(1<<18|1<<19) != 0 }

// Application asks for the bot's application.
func (c *Client) Application(ctx context.Context) (app Application, err error) {
	err = c.Get(ctx, discordgo.EndpointApplication("@me"), &app)
	return app, err
}
