package access

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gatehouse/core"
)

// Platform is what the ids of these people begin with.
const Platform = "openharness"

// How is the way in which a request showed who makes it.
type How string

// The ways.
const (
	Bearer   How = "bearer"   // a token in the Authorization header: no browser sends it by itself
	Cookie   How = "cookie"   // a login
	Loopback How = "loopback" // from this machine; there are no tokens
)

// Person is who makes a request.
type Person struct {
	Name  string
	Actor core.Actor
	How   How
}

// LocalID is the id of the local person.
const LocalID = Platform + ":" + localName

// local is the person of true loopback.
var local = Person{localName, core.Actor{ID: LocalID, Name: localName, Local: true}, Loopback}

// Refusal is why a request is refused. Message is for who made the request; it shows nothing of tokens.
type Refusal struct {
	Status     int    // of HTTP: 400, 401, 403, 409, 429
	Code       string // invalid_request, unauthorized, forbidden, other_person, old_page, rate_limited
	Message    string // a sentence
	RetryAfter time.Duration
	Field      string // of 400: the parameter; "" if it is the whole query
	Cause      string // of 409: the category of why a press came too late, approval_decided; "": it is another
	Now        string // of other_person: who is logged in
	Page       string // of other_person: whom the page was made for
}

// Error is the message.
func (r *Refusal) Error() string { return r.Message }

func unauthorized(message string) *Refusal {
	return &Refusal{Status: http.StatusUnauthorized, Code: "unauthorized", Message: message}
}

func forbidden(message string) *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "forbidden", Message: message}
}

// Values keep which logins have ended, for all processes of one bot; see core.KV.
type Values interface {
	PutFor(ctx context.Context, name, value string, lifetime time.Duration) error
	Get(ctx context.Context, name string) (string, error)
}

// Options configure a Gate.
type Options struct {
	Tokens   []Token          // none: only true loopback is served
	Metrics  Secret           // lets programs read /metrics from elsewhere
	Signer   *core.Signer     // required
	Instance string           // the same for all processes of one bot, and another for another bot; "": one bot a host
	Values   Values           // nil: a log-out ends nothing but the cookie in the browser, and streams of this process
	Now      func() time.Time // nil: time.Now
	Session  time.Duration    // of a login; 0 = 12h
	Site     Site             // where people reach the pages
}

// defaultSession is a day's work.
const defaultSession = 12 * time.Hour

// Gate decides about requests. Any number of goroutines may use it.
type Gate struct {
	Site

	admitted atomic.Pointer[admitted]
	signer   *core.Signer

	forms   *core.Signer
	now     func() time.Time
	session time.Duration
	cookie  string // the name of the cookie; see cookieName
	values  Values
	streams streams

	metrics Secret
	guesses guesses
}

// New makes a Gate. Its keys are derived from the signer's, one for each purpose.
func New(o Options) *Gate {
	g := &Gate{
		signer: o.Signer, forms: derived(o.Signer, "form of a page"), now: o.Now,
		session: cmp.Or(o.Session, defaultSession), metrics: o.Metrics, guesses: guesses{peers: map[string]int{}},
		cookie: cookieOf(o.Instance), values: o.Values, Site: o.Site,
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.admitted.Store(g.admit(o.Tokens))
	return g
}

// admitted are those who are let in.
type admitted struct {
	tokens []Token
	logins map[string]*core.Signer // by name: seals the person's logins
}

func (g *Gate) admit(tokens []Token) *admitted {
	a := &admitted{tokens: tokens, logins: map[string]*core.Signer{}}
	for _, t := range tokens {
		a.logins[t.Name] = derived(g.signer, "login of "+t.Name+"\x00"+string(t.digest[:]))
	}
	return a
}

// Use lets in those with these tokens, and nobody else, from the next request on. Logins and streams that began with
// another token end at once.
func (g *Gate) Use(tokens []Token) {
	g.admitted.Store(g.admit(tokens))
	g.streams.endUnless(g.holds)
}

// holds reports whether somebody is let in by this token: the zero one is that of who needs none.
func (g *Gate) holds(t Token) bool {
	if g.Open() {
		return t.Name == ""
	}
	return slices.ContainsFunc(g.admitted.Load().tokens, func(other Token) bool {
		return other.Name == t.Name && other.digest == t.digest
	})
}

// derived is a signer for one purpose.
func derived(s *core.Signer, purpose string) *core.Signer {
	var keys []string
	for _, k := range s.Derived(purpose) {
		keys = append(keys, string(k))
	}
	signer, err := core.NewSigner(keys...)
	if err != nil {
		panic(err) // a derived key is long enough
	}
	return signer
}

// Has reports whether there is a token of this name, in whatever case.
func (g *Gate) Has(name string) bool {
	return slices.ContainsFunc(g.admitted.Load().tokens, func(t Token) bool { return strings.EqualFold(t.Name, name) })
}

// Open reports whether there are no tokens, so that only true loopback is served.
func (g *Gate) Open() bool { return len(g.admitted.Load().tokens) == 0 }
