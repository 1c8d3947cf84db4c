package discord

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/core"
)

// Numbers of the connections to Discord's REST API.
const (
	callTimeout = 15 * time.Second // of one call, where its context has no earlier end
	dialTimeout = 5 * time.Second
	idleConns   = 16      // as many as the outbox has posts in flight
	maxAnswer   = 8 << 20 // bytes of an answer; far above what Discord sends
)

// rest speaks with Discord's REST API by discordgo's session, which knows the token and reads the headers of rate limits. Its own
// retries are off: the outbox retries. It is never waited in: a call that would have to wait gives delivery_later at once, with the time.
type rest struct {
	base    string
	session *discordgo.Session
	http    *http.Client
	gates   *gates
	invalid *invalid
	met     func(error) // whether Discord could be spoken to
}

func newRest(c Config, now func() time.Time, met func(error)) *rest {
	r := &rest{base: c.apiURL(), http: client(), gates: newGates(now), invalid: newInvalid(now), met: met}
	r.session = &discordgo.Session{
		Token: "Bot " + c.BotToken, Client: r.http, Ratelimiter: discordgo.NewRatelimiter(), MaxRestRetries: 0, ShouldRetryOnRateLimit: false,
		UserAgent: "DiscordBot (https://gatehouse.invalid, 1)", LogLevel: -1, // it writes to the standard log
	}
	return r
}

// client keeps connections of its own, so that they end with the platform. Nothing is redirected: it would take the token elsewhere.
func client() *http.Client {
	return &http.Client{
		Timeout: callTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: witness{&http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, ForceAttemptHTTP2: true,
			MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: dialTimeout,
		}},
	}
}

// close ends the connections.
func (r *rest) close() { r.http.CloseIdleConnections() }

// call asks Discord's REST API: path is what comes after /api/v10, such as /channels/1/messages; body is sent as JSON, answer is
// decoded from it; each may be nil. Errors are as faultOf says.
func (d *Discord) call(ctx context.Context, method, path string, body, answer any) error {
	return d.out.rest.call(ctx, method, path, body, answer)
}

func (r *rest) call(ctx context.Context, method, path string, body, answer any) error {
	if wait := r.invalid.wait(); wait > 0 {
		return waitFor(wait, "Discord refused too many calls of late; so that it does not ban this address, it is left alone for a while. The log says what it refused.")
	}
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return core.Wrap(core.Internal, err, "A call to Discord could not be written.")
		}
	}
	key := bucketOf(method, path)
	g, err := r.gates.enter(ctx, key, ungoverned(path))
	if err != nil {
		return err
	}
	var got testimony
	timed, cancel := context.WithTimeout(context.WithValue(ctx, testimonyKey{}, &got), callTimeout)
	defer cancel()
	out, err := r.session.RequestWithLockedBucket(method, r.base+path, "application/json", raw, g.bucket, 0, discordgo.WithContext(timed))
	r.gates.leave(g)
	err = bare(err)
	fault := faultOf(got, out, err)
	if err == nil || ctx.Err() == nil { // else we hung up, some calls after a moment: that tells nothing of Discord
		r.heard(fault)
	}
	if fault != nil {
		r.learn(key, got, out, fault)
		return fault
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(out, answer); err != nil {
		return core.Wrap(core.DeliveryInDoubt, err, "Discord's answer can't be read.")
	}
	return nil
}

// bare is an error without the address of its call: an interaction's has its token, a file's its signature.
func bare(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// learn remembers how long Discord wants to be left alone, and counts what it bans for.
func (r *rest) learn(key string, got testimony, body []byte, fault error) {
	if got.status == http.StatusUnauthorized || got.status == http.StatusForbidden || got.status == http.StatusTooManyRequests && got.scope() != scopeShared {
		r.invalid.count()
	}
	var e *core.Error
	if r.invalid.many() && got.status == http.StatusForbidden && errors.As(fault, &e) {
		e.RetryAfter = invalidWindow // what is refused again and again must not use up what is left for the rest
	}
	if wait := core.RetryAfterOf(fault); wait > 0 && got.status == http.StatusTooManyRequests {
		r.gates.hold(got.about(key, body), wait)
	}
}

// testimony is what an answer said besides its body. Its status is 0 where there was none.
type testimony struct {
	status int
	header http.Header
}

type testimonyKey struct{}

// The scopes of a 429. One that is shared was not brought about by us, and does not count against us.
const (
	scopeGlobal = "global"
	scopeShared = "shared"
)

func (t testimony) scope() string { return t.header.Get("X-RateLimit-Scope") }

// about says what a 429 is about: a call's bucket; all calls, where it comes from a proxy before Discord that knows no routes; or the
// global limit. One that has Discord's own words, and does not say so, is about its route alone: a channel in slow mode.
func (t testimony) about(bucket string, body []byte) string {
	if t.header.Get("X-RateLimit-Global") != "" || t.scope() == scopeGlobal {
		return allGoverned
	}
	var word struct {
		Global *bool `json:"global"`
		Code   int   `json:"code"`
	}
	ofRoute := json.Unmarshal(body, &word) == nil && (word.Code != 0 || word.Global != nil && !*word.Global)
	if t.scope() == "" && t.header.Get("X-RateLimit-Bucket") == "" && !ofRoute {
		return allOfDiscord
	}
	return bucket
}

// witness notes what an answer said in the context of its call: discordgo does not tell it for all of them.
type witness struct{ http.RoundTripper }

// RoundTrip makes the call.
func (w witness) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if got, ok := r.Context().Value(testimonyKey{}).(*testimony); ok {
		got.status, got.header = answer.StatusCode, answer.Header
	}
	answer.Body = &bounded{answer.Body, maxAnswer}
	return answer, nil
}

// CloseIdleConnections lets the client end them.
func (w witness) CloseIdleConnections() {
	if c, ok := w.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// bounded is a body that is cut off with an error where it is larger than any of Discord's.
type bounded struct {
	io.ReadCloser
	left int
}

var errTooLong = errors.New("the answer is too long")

// Read reads on while there is room.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// ungoverned reports a route that is outside the global limit: answers to interactions.
func ungoverned(path string) bool {
	return strings.HasPrefix(path, "/interactions/") || strings.HasPrefix(path, "/webhooks/")
}

// bucketOf names the bucket of rate limits that a call counts against: its route, with the channel, server or webhook that stands first
// in it. Other ids do not matter.
func bucketOf(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	steps := strings.Split(strings.Trim(path, "/"), "/")
	for i, step := range steps {
		first := i == 1 || i == 2 && (steps[0] == "webhooks" || steps[0] == "interactions")
		if !first && isSnowflake(step) {
			steps[i] = "*"
		}
	}
	return method + " " + strings.Join(steps, "/")
}

// isSnowflake reports whether a text is an id of Discord's.
func isSnowflake(s string) bool {
	const longest = 20
	return s != "" && len(s) <= longest && strings.Trim(s, "0123456789") == ""
}
