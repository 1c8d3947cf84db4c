package discordtest

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is Discord with one app in it.
type Server struct {
	o      Options
	base   string // http://127.0.0.1:port
	second string // the same on another port, where sessions are resumed
	webs   []*http.Server
	out    *http.Client // for requests to the app
	key    ed25519.PrivateKey
	ctx    context.Context // ends with Close
	end    context.CancelFunc
	work   sync.WaitGroup

	mu           sync.Mutex
	notify       chan struct{} // closed and made anew at each change
	ids          *snowflakes
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
	calls        []Call
	faults       []*Injected
	limits       Limits
	buckets      map[string]*bucket
	global       globalLimit
	invalid      []time.Time
	banned       bool
	lagReads     int
	fromBot      int
	connections  []*Connection
	sessions     map[string]*session
	order        []*session // the same in the order of their beginning
	identifies   []Identify
	resumes      []Resume
	dayBegan     time.Time
	dayCount     int
	lastIdentify map[int]time.Time
	refuse       bool
	mute         bool
	noAcks       bool
	replayMore   int
	disasters    []string
	foreign      *foreignHost
}

// TB is what [Start] needs of a *testing.T or *testing.B.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Start starts a fake Discord for a test: it is closed when the test ends. Mistakes in its use fail the test, and so do a disaster and a call
// of a route that the fake does not know.
func Start(t TB, o Options) *Server {
	t.Helper()
	if o.Fatalf == nil {
		o.Fatalf = t.Fatalf
	}
	s := New(o)
	t.Cleanup(func() {
		s.Close()
		for _, route := range s.UnknownRoutes() {
			t.Errorf("the fake Discord was asked for %s, which it does not know", route)
		}
		if o.AllowDisasters {
			return
		}
		for _, disaster := range s.Disasters() {
			t.Errorf("a disaster for a real bot: %s", disaster)
		}
	})
	return s
}

// New starts a fake Discord for a program. Close ends it.
func New(o Options) *Server {
	o = o.filled()
	ctx, end := context.WithCancel(context.Background())
	seed := sha256.Sum256([]byte("discordtest" + o.ApplicationID))
	s := &Server{
		o: o, ctx: ctx, end: end, ids: newSnowflakes(), denied: o.Denied, interactURL: o.InteractionsURL,
		key:          ed25519.NewKeyFromSeed(seed[:]),
		out:          &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}},
		notify:       make(chan struct{}),
		users:        map[string]*User{},
		guilds:       map[string]*guild{},
		channels:     map[string]*channel{},
		dms:          map[string]string{},
		files:        map[string]*storedFile{},
		nonces:       map[string]nonce{},
		commands:     map[string][]object{},
		byToken:      map[string]*Interaction{},
		modals:       map[string]*Modal{},
		typing:       map[string][]time.Time{},
		buckets:      map[string]*bucket{},
		sessions:     map[string]*session{},
		lastIdentify: map[int]time.Time{},
		limits:       o.Limits,
	}
	s.users[o.BotUserID] = &User{ID: o.BotUserID, Name: o.BotName, IsBot: true}
	s.base = s.serve(s.routes())
	s.second = s.serve(s.counted(http.HandlerFunc(s.serveResumeGateway)))
	return s
}

// serve opens a listener and returns its address.
func (s *Server) serve(handler http.Handler) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic("discordtest: " + err.Error())
	}
	web := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: quiet}
	s.webs = append(s.webs, web)
	s.work.Go(func() { _ = web.Serve(listener) })
	return "http://" + listener.Addr().String()
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
	mux.HandleFunc("/{$}", s.serveGateway)
	return s.counted(mux)
}

// counted makes Close wait for the requests that are being handled.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.begins() {
			http.Error(w, "closed", http.StatusServiceUnavailable)
			return
		}
		defer s.work.Done()
		next.ServeHTTP(w, r)
	})
}

// Close ends the fake: its connections, its deliveries, its held answers and its listeners. It returns once all its work is over.
func (s *Server) Close() {
	s.mu.Lock()
	s.end()
	for _, c := range s.connections {
		c.drop("server closed", 0)
	}
	webs := append([]*http.Server{}, s.webs...)
	s.mu.Unlock()
	for _, web := range webs {
		_ = web.Close()
	}
	s.work.Wait()
	s.out.CloseIdleConnections()
}

// begins counts a piece of work in, unless the server is closed. Work begins under the lock alone, so that Close misses none.
func (s *Server) begins() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.work.Add(1)
	return true
}

// changed wakes those who wait. The caller holds the lock.
func (s *Server) changed() {
	close(s.notify)
	s.notify = make(chan struct{})
}

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

// Disasters are the things that happened and must never happen to a real bot: the reset of its token by too many identifies, or the ban of its
// address by too many invalid requests.
func (s *Server) Disasters() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.disasters...)
}
