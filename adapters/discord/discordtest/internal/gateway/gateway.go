package gateway

import (
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"gatehouse/adapters/internal/fakeserver"
)

// Config connects the gateway to its fake. Its functions are called with the lock held.
type Config struct {
	Host *fakeserver.Host
	Lock *sync.Mutex // of the fake

	Now      func() time.Time // the clock of the platform
	LimitNow func() time.Time // the clock of rate limits

	HeartbeatInterval time.Duration
	SessionLifetime   time.Duration
	IdentifyEvery     time.Duration // less than 0: no such limit
	IdentifyBudget    int
	MaxConcurrency    int
	RequireShards     int

	GoodToken func(token string) bool                // whether the token is the bot's, and valid
	Denied    func() int                             // the privileged intents that the app is denied
	Reset     func(why string)                       // the bot's token is reset
	Ready     func(session string, shard [2]int) any // the data of READY
	Guilds    func(shard [2]int) []any               // the data of each GUILD_CREATE after READY
}

// Gateway has the connections and sessions of one fake.
type Gateway struct {
	o    Config
	host *fakeserver.Host
	mu   *sync.Mutex

	connections  []*Connection
	sessions     map[string]*session
	order        []*session // the same in the order in which they began
	identifies   []Identify
	resumes      []Resume
	dayBegan     time.Time
	dayCount     int
	lastIdentify map[int]time.Time
	refuse       bool
	newSilent    bool
	noAcks       bool
	replayMore   int
	refusals     map[int]*Refusal // by opcode: of identifies and resumes
}

// New makes a gateway without connections.
func New(o Config) *Gateway {
	return &Gateway{
		o: o, host: o.Host, mu: o.Lock, sessions: map[string]*session{}, lastIdentify: map[int]time.Time{},
		refusals: map[int]*Refusal{},
	}
}

// Drop ends all connections when the fake closes.
func Drop(g *Gateway, why string) {
	for _, c := range g.connections {
		c.drop(why, 0)
	}
}

// Refuses reports whether new connections are refused. The caller does not hold the lock.
func Refuses(g *Gateway) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refuse
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// Serve serves one connection until it ends; onResume: at the address that READY names. The caller does not hold the
// lock.
func Serve(g *Gateway, w http.ResponseWriter, r *http.Request, onResume bool) {
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &Connection{g: g, conn: conn, onResume: onResume, gone: make(chan struct{}), wake: make(chan struct{}, 1)}
	if r.URL.Query().Get("compress") == "zlib-stream" {
		c.stream = newZlibStream()
	}
	if !c.begin(r.URL.Query()) {
		return
	}
	conn.SetPingHandler(func(data string) error {
		if c.State().Silent {
			return nil
		}
		return conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
	})
	g.host.Go(c.writes)
	c.reads()
}
