package discordtest

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/description"
	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/discord/discordtest/internal/limits"
	"gatehouse/adapters/discord/discordtest/internal/snowflake"
	"gatehouse/adapters/internal/fakeserver"
)

// Server is a fake Discord with one app.
type Server struct {
	o          Options
	base       string       // http://127.0.0.1:port
	resumeBase string       // the same on another port, where sessions are resumed
	out        *http.Client // for requests to the app
	key        ed25519.PrivateKey
	ctx        context.Context // ends with Close
	host       *fakeserver.Host
	described  description.Calls
	fake
	*gateway.Gateway

	mu           sync.Mutex
	ids          *snowflake.Generator
	revoked      bool // the bot token is no longer valid
	denied       int
	interactURL  string
	users        map[string]*User
	guilds       map[string]*guild
	channels     map[string]*channel
	dms          map[string]string // channels, by user
	files        map[string]*storedFile
	nonces       map[string]nonce
	harmful      []string // links that are refused in every channel
	commands     []object
	interactions []*Interaction
	byToken      map[string]*Interaction
	modals       map[string]*Modal // by user
	typing       map[string][]time.Time
	limits       *limits.Limiter
	postCount    int
	penalties    []string
}

// Start starts a fake Discord for a test and closes it when the test ends. Misuse of the fake fails the test, as do a
// penalty, a call of an unknown route, and a deviation from Discord's own description of its API.
func Start(t fakeserver.TB, o Options) *Server {
	t.Helper()
	if o.Fatalf == nil {
		o.Fatalf = t.Fatalf
	}
	s := New(o)
	fakeserver.CloseAfter(t, s.Close, func() (problems []string) {
		for _, route := range s.UnknownRoutes() {
			problems = append(problems, "the fake Discord was asked for "+route+", which it does not know")
		}
		problems = append(problems, s.Deviations()...)
		if !o.AllowPenalties {
			problems = append(problems, s.Penalties()...)
		}
		return problems
	})
	return s
}

// described are the parts of Discord's own description of its API that the fake's routes have.
//
//go:embed testdata/discord-openapi.json
var described []byte

// readDescription reads described, once in a process.
var readDescription = sync.OnceValues(func() (*description.Description, error) { return description.Read(described) })

// Deviations returns where requests, or the fake's own answers, differ from Discord's own description, in tests.
func (s *Server) Deviations() []string { return s.described.Deviations() }

// New starts a fake Discord for a program. Close ends it.
func New(o Options) *Server {
	o = o.filled()
	seed := sha256.Sum256([]byte("discordtest" + o.ApplicationID))
	s := &Server{
		o: o, ids: snowflake.NewGenerator(), denied: o.Denied, interactURL: o.InteractionsURL,
		key:      ed25519.NewKeyFromSeed(seed[:]),
		out:      &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}},
		users:    map[string]*User{},
		guilds:   map[string]*guild{},
		channels: map[string]*channel{},
		dms:      map[string]string{},
		files:    map[string]*storedFile{},
		nonces:   map[string]nonce{},
		byToken:  map[string]*Interaction{},
		modals:   map[string]*Modal{},
		typing:   map[string][]time.Time{},
	}
	if testing.Testing() {
		d, err := readDescription()
		if err != nil {
			s.fatal("%v", err)
		}
		s.described.Description = d
	}
	s.users[o.BotUserID] = &User{ID: o.BotUserID, Name: o.BotName, IsBot: true}
	s.host = fakeserver.NewHost("Discord", &s.mu)
	s.host.Dump, s.ctx = s.Dump, s.host.Ctx
	s.limits = &limits.Limiter{Now: o.LimitNow, Ban: func(why string) { s.penalties = append(s.penalties, why) }}
	s.limits.Set(o.Limits)
	s.fake = fakeserver.New[Call](s.host, s.answerTrouble)
	s.Gateway = s.newGateway()
	s.base = s.host.Serve(s.routes())
	s.resumeBase = s.host.Serve(s.serveGateway(true))
	return s
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for name, r := range routes {
		for _, version := range []string{"/api/v9", "/api/v10"} {
			method, path := cutRoute(name)
			mux.HandleFunc(method+" "+version+path, s.serveRoute(name, r))
		}
	}
	mux.HandleFunc("/api/", s.serveUnknown)
	mux.HandleFunc("GET /attachments/{channel}/{id}/{name}", s.serveFile)
	mux.HandleFunc("/{$}", s.serveGateway(false))
	return mux
}

// Close ends the fake: its connections, deliveries, held answers and listeners. It returns once all of them have ended.
func (s *Server) Close() {
	s.host.Close(func() {
		gateway.Drop(s.Gateway, "server closed")
	})
	s.out.CloseIdleConnections()
}

// changed wakes those who wait. The caller holds the lock.
func (s *Server) changed() { s.host.Changed() }

// fatal reports a misuse of the fake. Fatalf ends the goroutine or panics; the callers release the lock by defer.
func (s *Server) fatal(format string, args ...any) {
	s.o.Fatalf(format, args...)
	panic("discordtest: Fatalf came back")
}

// URL is the address of the server, without a slash at the end.
func (s *Server) URL() string { return s.base }

// APIURL is the base of the REST API in version 10, without a slash at the end.
func (s *Server) APIURL() string { return s.base + "/api/v10" }

// BotToken is the bot's token, without the prefix "Bot ".
func (s *Server) BotToken() string { return s.o.BotToken }

// ApplicationID is the app's id.
func (s *Server) ApplicationID() string { return s.o.ApplicationID }

// BotUserID is the bot's user id.
func (s *Server) BotUserID() string { return s.o.BotUserID }

// PublicKey is the key that interactions over HTTP are signed with, in hexadecimal.
func (s *Server) PublicKey() string {
	public, _ := s.key.Public().(ed25519.PublicKey)
	return hex.EncodeToString(public)
}

// MentionOfBot is the bot's mention as written in a message.
func (s *Server) MentionOfBot() string { return "<@" + s.o.BotUserID + ">" }

// SetInteractionsURL changes where interactions are sent from now on; "" sends them over the gateway.
func (s *Server) SetInteractionsURL(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interactURL = url
}

// RevokeToken makes the bot token invalid: REST answers 401, and identifies and resumes end with 4004. Open connections
// stay.
func (s *Server) RevokeToken() { s.setRevoked(true) }

// RestoreToken makes the bot token valid again.
func (s *Server) RestoreToken() { s.setRevoked(false) }

func (s *Server) setRevoked(revoked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = revoked
}

// InvalidRequests counts the requests of the last 10 minutes that were answered with 401, 403 or a 429 that is not
// shared. After 10,000 of them the address is banned.
func (s *Server) InvalidRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limits.Invalid()
}

// countInvalid counts a 401, a 403 or a 429 that is not shared.
func (s *Server) countInvalid() {
	s.limits.CountInvalid()
	s.changed()
}

// Penalties returns the penalties of the bot: the reset of its token after too many identifies, or the ban of its
// address after too many invalid requests. A real bot must never cause one.
func (s *Server) Penalties() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.penalties...)
}
