package slacktest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest/internal/socketmode"
)

// Server is one workspace with one app installed in it.
type Server struct {
	o     Options
	ids   ids
	base  string       // http://127.0.0.1:port
	out   *http.Client // for requests to the app
	slots chan struct{}
	ctx   context.Context // ends with Close
	host  *fakeserver.Host
	fake
	*socketmode.Hub

	mu         sync.Mutex
	scopes     []string
	appRevoked bool
	strange    bool   // answers hold unknown fields
	revoked    string // the error that calls with the bot token get, if any
	to         Addresses
	users      map[string]*User
	channels   map[string]*channel
	groups     map[string]*Group
	files      map[string]*File
	triggers   map[string]*trigger
	views      map[string]*view
	statuses   map[string]shownStatus // by channel and thread
	lastRead   map[string]time.Time   // by method; nil: reads are not limited
	deliveries []*Delivery
	queues     map[string]chan struct{} // the last of each conversation's deliveries
	lastTS     int64
}

// Start starts a fake Slack for a test: it is closed when the test ends, mistakes in its use fail the test, and so does
// a call of an API method that the fake does not know.
func Start(t fakeserver.TB, o Options) *Server {
	t.Helper()
	if o.Fatalf == nil {
		o.Fatalf = t.Fatalf
	}
	s := New(o)
	fakeserver.CloseAfter(t, s.Close, func() (problems []string) {
		for _, method := range s.UnknownMethods() {
			problems = append(problems, "the fake Slack was asked for "+method+", which it does not know")
		}
		return problems
	})
	return s
}

// New starts a fake Slack for a program. Close ends it.
func New(o Options) *Server {
	o = o.filled()
	s := &Server{
		o: o, ids: newIDs(), to: o.To,
		out:      &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.MaxInFlight}},
		slots:    make(chan struct{}, o.MaxInFlight),
		scopes:   slices.Clone(o.Scopes),
		users:    map[string]*User{},
		channels: map[string]*channel{},
		groups:   map[string]*Group{},
		files:    map[string]*File{},
		triggers: map[string]*trigger{},
		views:    map[string]*view{},
		statuses: map[string]shownStatus{},
		queues:   map[string]chan struct{}{},
	}
	s.users[o.BotUserID] = &User{
		ID: o.BotUserID, Name: o.BotName, IsBot: true, BotID: o.BotID, AppID: o.AppID, TeamID: o.TeamID,
	}
	s.host = fakeserver.NewHost("Slack", &s.mu)
	s.host.Dump, s.ctx = s.Dump, s.host.Ctx
	s.fake = fakeserver.New[Call](s.host, answerTrouble)
	s.Hub = socketmode.New(socketmode.Config{
		Host: s.host, Lock: &s.mu, Now: o.Now, AppID: o.AppID, AckWithin: o.AckWithin, PingEvery: o.PingEvery,
		NewID: s.ids.uuid, Secret: s.ids.secret,
	})
	s.base = s.host.Serve(s.routes())
	return s
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serveAPI)
	mux.HandleFunc("/link/", s.recorded(DialSocket, func(w http.ResponseWriter, r *http.Request) {
		socketmode.Serve(s.Hub, w, r)
	}))
	mux.HandleFunc("/files-pri/{id}/{name}", s.recorded(DownloadFile, s.serveFile))
	return mux
}

// Close ends the fake: its sockets, its deliveries, its held answers and its listener. It returns once all its work is
// over.
func (s *Server) Close() {
	s.host.Close(func() {
		socketmode.Drop(s.Hub, "server closed")
	})
	s.out.CloseIdleConnections()
}

// changed wakes all waiters. The caller holds the lock.
func (s *Server) changed() { s.host.Changed() }

// URL returns the address of the server, without a slash at the end.
func (s *Server) URL() string { return s.base }

// APIURL returns the address of the Web API, in the form that slack-go's OptionAPIURL needs.
func (s *Server) APIURL() string { return s.base + "/api/" }

// BotToken returns the token for the Web API.
func (s *Server) BotToken() string { return s.o.BotToken }

// AppToken returns the token for apps.connections.open.
func (s *Server) AppToken() string { return s.o.AppToken }

// SigningSecret returns the secret with which requests to the app are signed.
func (s *Server) SigningSecret() string { return s.o.SigningSecret }

// TeamID returns the workspace's id.
func (s *Server) TeamID() string { return s.o.TeamID }

// AppID returns the app's id.
func (s *Server) AppID() string { return s.o.AppID }

// BotUserID returns the bot's user id, as in mentions and in the members of channels.
func (s *Server) BotUserID() string { return s.o.BotUserID }

// BotID returns the bot's id as a sender of messages.
func (s *Server) BotID() string { return s.o.BotID }

// MentionOfBot returns the bot's mention as it appears in the text of a message.
func (s *Server) MentionOfBot() string { return "<@" + s.o.BotUserID + ">" }

// SendTo sets the app's request URLs. Kinds of payloads without one are sent over a socket. It may be called at any
// time.
func (s *Server) SendTo(to Addresses) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = to
}

// object is a JSON object that is to be sent.
type object = map[string]any

// ids makes the ids of one server. They differ from those of every other server, so that an app under test does not
// take the events of a second fake for known ones.
type ids struct {
	server string
	last   *atomic.Int64
}

func newIDs() ids { return ids{server: strings.ToUpper(rand.Text()[:6]), last: new(atomic.Int64)} }

// next returns a new id like Slack's: some letters for its kind, then letters and digits.
func (i ids) next(kind string) string { return fmt.Sprintf("%s%s%04X", kind, i.server, i.last.Add(1)) }

// secret returns a random text.
func (i ids) secret() string { return strings.ToLower(rand.Text()) }

// uuid returns a new id in the form of envelope ids and client_msg_ids.
func (i ids) uuid() string {
	return fmt.Sprintf("%08x-%04x-4000-8000-%s", i.last.Add(1), 0x5ac, strings.ToLower(rand.Text()[:12]))
}

// newTS returns the next message timestamp: seconds and six digits, unique and increasing even if the clock does not
// advance. The caller holds the lock.
func (s *Server) newTS() string {
	micros := s.o.Now().UnixMicro() / 100 * 100
	if micros <= s.lastTS {
		micros = s.lastTS + 100
	}
	s.lastTS = micros
	return fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6)
}

// tsMicros parses a timestamp; 0 if it is not one.
func tsMicros(ts string) int64 {
	seconds, rest, _ := strings.Cut(ts, ".")
	sec, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return 0
	}
	micros, _ := strconv.ParseInt((rest + "000000")[:6], 10, 64)
	return sec*1e6 + micros
}
