package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"gatehouse/adapters/internal/fakeserver"
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
	return fakeserver.JSON(map[string]any{"op": op, "d": data, "s": nil, "t": nil})
}

// begin sends the hello and records the connection.
func (c *Connection) begin(query map[string][]string) bool {
	g := c.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.host.Ctx.Err() != nil {
		_ = c.conn.Close()
		return false
	}
	c.ID, c.open, c.openedAt = len(g.connections)+1, true, g.o.Now()
	c.silent, c.noAcks = g.newSilent, g.noAcks
	g.connections = append(g.connections, c)
	if v := strings.Join(query["v"], ""); v != "9" && v != "10" {
		c.closeWith(4012, "Invalid API version.")
	} else {
		c.enqueue(
			opFrame(opHello,
				map[string]any{
					"heartbeat_interval": g.o.HeartbeatInterval.Milliseconds(), "_trace": []string{"discordtest"},
				}))
	}
	g.host.Changed()
	return true
}

// reads processes the client's payloads until the connection ends.
func (c *Connection) reads() {
	g := c.g
	for {
		_, data, err := c.conn.ReadMessage()
		g.mu.Lock()
		if err != nil {
			c.ended(err)
			g.mu.Unlock()
			return
		}
		c.take(data)
		g.host.Changed()
		g.mu.Unlock()
	}
}

// take processes one payload. The caller holds the lock.
func (c *Connection) take(data []byte) {
	g := c.g
	if c.closing || !c.open {
		return
	}
	c.received++
	c.sentLog = append(c.sentLog, string(data))
	if len(data) > maxPayload {
		c.closeWith(4002, "Error while decoding payload.")
		return
	}
	now := g.o.LimitNow()
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
		c.beats = append(c.beats, g.o.Now())
		if !c.noAcks {
			c.acks++
			c.enqueue(opFrame(opAck, nil))
		}
	case opIdentify:
		authenticate(c, p.D, c.identify)
	case opResume:
		authenticate(c, p.D, c.resume)
	case opPresence, opVoice, opMembers:
		if !c.known {
			c.closeWith(4003, "Not authenticated.")
		}
	default:
		c.closeWith(4001, "Unknown opcode.")
	}
}

// authenticate decodes and processes an identify or a resume. A connection may have only one.
func authenticate[T any](c *Connection, data json.RawMessage, with func(T)) {
	var d T
	switch {
	case c.known:
		c.closeWith(4005, "Already authenticated.")
	case json.Unmarshal(data, &d) != nil:
		c.closeWith(4002, "Error while decoding payload.")
	default:
		with(d)
	}
}

// ended records that the client closed the connection or that it broke. A close with 1000 or 1001 also ends the
// session.
func (c *Connection) ended(err error) {
	why, code := "broken: "+err.Error(), 0
	var closed *websocket.CloseError
	if errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure {
		why, code = fmt.Sprintf("closed by the app with %d", closed.Code), closed.Code
		if k := c.session; k != nil && (code == websocket.CloseNormalClosure || code == websocket.CloseGoingAway) {
			k.dead = true
		}
	}
	c.drop(why, code)
}
