package discordtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"gatehouse/adapters/internal/fakeserver"

	"github.com/gorilla/websocket"
)

// Opcodes of the gateway.
const (
	opHeartbeat      = 1
	opIdentify       = 2
	opPresence       = 3
	opVoice          = 4
	opResume         = 6
	opReconnect      = 7
	opMembers        = 8
	opInvalidSession = 9
	opHello          = 10
	opAck            = 11
)

// Dial is what the opening of a gateway connection is called in the log of calls and in faults.
const Dial = "(dial)"

const (
	maxPayload  = 4096
	sendsAllow  = 120
	sendsWithin = time.Minute
)

type identifyData struct {
	Token    string  `json:"token"`
	Intents  int     `json:"intents"`
	Shard    *[2]int `json:"shard"`
	Compress bool    `json:"compress"`
}

type resumeData struct {
	Token     string `json:"token"`
	SessionID string `json:"session_id"`
	Seq       int64  `json:"seq"`
}

func plainToken(token string) string { return strings.TrimPrefix(token, "Bot ") }

func opFrame(op int, data any) []byte {
	return fakeserver.JSON(object{"op": op, "d": data, "s": nil, "t": nil})
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) { s.serveSocket(w, r, false) }
func (s *Server) serveResumeGateway(w http.ResponseWriter, r *http.Request) {
	s.serveSocket(w, r, true)
}

// serveSocket holds one gateway connection until it ends.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request, onResume bool) {
	call := fakeserver.Begin(&s.Record, s.callOf(Dial, r))
	if call.Before(w, r) {
		return
	}
	s.mu.Lock()
	refuse := s.refuse
	s.mu.Unlock()
	if refuse {
		call.Finish(http.StatusServiceUnavailable, nil)
		http.Error(w, "no gateway", http.StatusServiceUnavailable)
		return
	}
	call.Finish(http.StatusSwitchingProtocols, nil)
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &Connection{s: s, conn: conn, onResume: onResume, gone: make(chan struct{}), wake: make(chan struct{}, 1)}
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
	s.host.Go(c.writes)
	c.reads()
}

// begin says hello and takes its place among the connections.
func (c *Connection) begin(query map[string][]string) bool {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		_ = c.conn.Close()
		return false
	}
	c.ID, c.open, c.openedAt = len(s.connections)+1, true, s.o.Now()
	c.silent, c.noAcks = s.mute, s.noAcks
	s.connections = append(s.connections, c)
	if v := strings.Join(query["v"], ""); v != "9" && v != "10" {
		c.closeWith(4012, "Invalid API version.")
	} else {
		c.enqueue(opFrame(opHello, object{"heartbeat_interval": s.o.HeartbeatInterval.Milliseconds(), "_trace": []string{"discordtest"}}))
	}
	s.changed()
	return true
}

// reads takes what the client sends until the connection ends.
func (c *Connection) reads() {
	s := c.s
	for {
		_, data, err := c.conn.ReadMessage()
		s.mu.Lock()
		if err != nil {
			c.ended(err)
			s.mu.Unlock()
			return
		}
		c.take(data)
		s.changed()
		s.mu.Unlock()
	}
}

// take acts upon one payload. The caller holds the lock.
func (c *Connection) take(data []byte) {
	s := c.s
	if c.closing || !c.open {
		return
	}
	c.received++
	c.sentLog = append(c.sentLog, string(data))
	if len(data) > maxPayload {
		c.closeWith(4002, "Error while decoding payload.")
		return
	}
	now := s.o.LimitNow()
	for len(c.recent) > 0 && now.Sub(c.recent[0]) >= sendsWithin {
		c.recent = c.recent[1:]
	}
	if c.recent = append(c.recent, now); len(c.recent) > sendsAllow {
		c.closeWith(4008, "Rate limited.")
		return
	}
	var p struct {
		Op *int            `json:"op"`
		D  json.RawMessage `json:"d"`
	}
	if err := json.Unmarshal(data, &p); err != nil || p.Op == nil {
		c.closeWith(4002, "Error while decoding payload.")
		return
	}
	switch *p.Op {
	case opHeartbeat:
		c.beats = append(c.beats, s.o.Now())
		if !c.noAcks {
			c.acks++
			c.enqueue(opFrame(opAck, nil))
		}
	case opIdentify:
		var d identifyData
		switch {
		case c.known:
			c.closeWith(4005, "Already authenticated.")
		case json.Unmarshal(p.D, &d) != nil:
			c.closeWith(4002, "Error while decoding payload.")
		default:
			c.identify(d)
		}
	case opResume:
		var d resumeData
		switch {
		case c.known:
			c.closeWith(4005, "Already authenticated.")
		case json.Unmarshal(p.D, &d) != nil:
			c.closeWith(4002, "Error while decoding payload.")
		default:
			c.resume(d)
		}
	case opPresence, opVoice, opMembers:
		if !c.known {
			c.closeWith(4003, "Not authenticated.")
		}
	default:
		c.closeWith(4001, "Unknown opcode.")
	}
}

// ended is what becomes of a connection that the client closed or that broke. A close with 1000 or 1001 ends the session too.
func (c *Connection) ended(err error) {
	why, code := "broken: "+err.Error(), 0
	var closed *websocket.CloseError
	if asClose(err, &closed) && closed.Code != websocket.CloseAbnormalClosure {
		why, code = fmt.Sprintf("closed by the app with %d", closed.Code), closed.Code
		if k := c.session; k != nil && (code == websocket.CloseNormalClosure || code == websocket.CloseGoingAway) {
			k.dead = true
		}
	}
	c.drop(why, code)
}
