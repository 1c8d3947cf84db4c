package discordtest

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/discord/discordtest/internal/limits"
	"gatehouse/adapters/discord/discordtest/internal/snowflake"
	"gatehouse/adapters/internal/fakeserver"
)

// Server is Discord with one app in it.
type Server struct {
	o          Options
	base       string       // http://127.0.0.1:port
	resumeBase string       // the same on another port, where sessions are resumed
	out        *http.Client // for requests to the app
	key        ed25519.PrivateKey
	ctx        context.Context // ends with Close
	host       *fakeserver.Host
	fake
	*gateway.Gateway

	mu           sync.Mutex
	ids          *snowflake.Generator
	revoked      bool // the bot token is good no more
	denied       int
	interactURL  string
	users        map[string]*User
	guilds       map[string]*guild
	channels     map[string]*channel
	dms          map[string]string // the channel by the user
	files        map[string]*storedFile
	nonces       map[string]nonce
	commands     map[string][]object // by guild, "" for the global ones
	overwrites   int                 // bulk overwrites of commands so far
	interactions []*Interaction
	byToken      map[string]*Interaction
	modals       map[string]*Modal // by user
	typing       map[string][]time.Time
	limits       *limits.Limiter
	postCount    int
	penalties    []string
}

// Start starts a fake Discord for a test: it is closed when the test ends. Mistakes in its use fail the test, and so do a penalty and a call
// of a route that the fake does not know.
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
		if !o.AllowPenalties {
			problems = append(problems, s.Penalties()...)
		}
		return problems
	})
	return s
}

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
		commands: map[string][]object{},
		byToken:  map[string]*Interaction{},
		modals:   map[string]*Modal{},
		typing:   map[string][]time.Time{},
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

// Close ends the fake: its connections, its deliveries, its held answers and its listeners. It returns once all its work is over.
func (s *Server) Close() {
	s.host.Close(func() {
		gateway.Drop(s.Gateway, "server closed")
	})
	s.out.CloseIdleConnections()
}

// changed wakes those who wait. The caller holds the lock.
func (s *Server) changed() { s.host.Changed() }

// fatal reports a mistake in the use of the fake. Fatalf ends the goroutine or panics; the callers let go of the lock by defer.
func (s *Server) fatal(format string, args ...any) {
	s.o.Fatalf(format, args...)
	panic("discordtest: Fatalf came back")
}

// URL is the address of the server, without a slash at the end.
func (s *Server) URL() string { return s.base }

// APIURL is the base of the REST API in version 10, without a slash at the end.
func (s *Server) APIURL() string { return s.base + "/api/v10" }

// BotToken is the bot's token, without "Bot " before it.
func (s *Server) BotToken() string { return s.o.BotToken }

// ApplicationID is the app's id.
func (s *Server) ApplicationID() string { return s.o.ApplicationID }

// BotUserID is the bot as a user.
func (s *Server) BotUserID() string { return s.o.BotUserID }

// PublicKey is the key that interactions over HTTP are signed with, in hexadecimal.
func (s *Server) PublicKey() string {
	public, _ := s.key.Public().(ed25519.PublicKey)
	return hex.EncodeToString(public)
}

// MentionOfBot is the bot's mention as it stands in the content of a message.
func (s *Server) MentionOfBot() string { return "<@" + s.o.BotUserID + ">" }

// SetInteractionsURL changes where interactions go, from now on; "" sends them over the gateway.
func (s *Server) SetInteractionsURL(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interactURL = url
}

// RevokeToken makes the bot token bad: REST answers 401, and identifies and resumes end with 4004. Open connections stay.
func (s *Server) RevokeToken() { s.setRevoked(true) }

// RestoreToken makes the bot token good again.
func (s *Server) RestoreToken() { s.setRevoked(false) }

func (s *Server) setRevoked(revoked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = revoked
}

// InvalidRequests are the requests of the last 10 minutes that met 401, 403 or a 429 which is not shared. 10,000 of them get the address
// banned.
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

// Penalties are how Discord has punished the bot: by the reset of its token after too many identifies, or by the ban of its address after too
// many invalid requests. A real bot must never get there.
func (s *Server) Penalties() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.penalties...)
}
