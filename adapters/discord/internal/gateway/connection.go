package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
)

// The operations of the gateway.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// Limits of one connection.
const (
	helloTimeout  = 10 * time.Second // from dialling to Discord's hello
	readyTimeout  = time.Minute      // until a session begins
	resumeTimeout = 10 * time.Second // until a session is resumed, or another of its events is replayed;
	silentBeats   = 5                // and as many heartbeats at most
	writeTimeout  = 5 * time.Second
	maxPayload    = 64 << 20 // bytes; the description of a large server has some millions
)

// connection is one websocket.
type connection struct {
	*committer
	conn      *websocket.Conn
	heartbeat time.Duration    // interval
	patience  time.Duration    // with the next event, until the session has begun
	intents   discordgo.Intent // for a new session

	writing sync.Mutex
	acked   atomic.Bool // the last heartbeat was acknowledged
	ready   atomic.Bool // the session has begun, or was resumed

	mu     sync.Mutex
	reason *closeReason // why this side ends it; nil: it does not
}

// websockets opens Discord's.
var websockets = outbound.Socket{
	Title: "Discord", URLKey: "DISCORD_API_URL", Hello: helloTimeout, Limit: maxPayload,
}

// Dial opens a websocket at an address of the gateway and waits for Discord's hello. heartbeat is the interval that it
// asks for. No session begins. Error: as outbound.Socket has it.
func Dial(ctx context.Context, address string) (conn *websocket.Conn, heartbeat time.Duration, err error) {
	if u, err := url.Parse(address); err == nil {
		u.RawQuery = "v=10&encoding=json"
		u.Path = cmp.Or(u.Path, "/")
		address = u.String()
	}
	var p discordgo.Event
	if conn, err = websockets.Dial(ctx, address, &p); err != nil {
		return nil, 0, err
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if p.Operation != opHello || json.Unmarshal(p.RawData, &hello) != nil || hello.Interval <= 0 {
		conn.Close()
		return nil, 0, websockets.NoHello(address, nil)
	}
	return conn, time.Duration(hello.Interval) * time.Millisecond, nil
}

// dial opens a connection.
func (s *shard) dial(ctx context.Context, address string) (*connection, error) {
	conn, heartbeat, err := Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	return &connection{committer: newCommitter(s), conn: conn, heartbeat: heartbeat, intents: s.Intents()}, nil
}

// run resumes a session or begins one, and receives events until the connection or ctx ends. Before run returns, every
// event that was received is committed, unless ctx ends or the resumed session repeats the event.
func (c *connection) run(ctx context.Context, from session) closeReason {
	defer c.conn.Close()
	open, end := context.WithCancel(ctx)
	defer end()
	stop := context.AfterFunc(ctx, func() { c.close(closeReason{}) })
	defer stop()
	var parts sync.WaitGroup
	parts.Go(func() { c.heartbeats(open) })
	parts.Go(func() { c.commits(ctx, from) })
	err := c.begin(from)
	if err == nil {
		c.patience = readyTimeout
		if from.ID != "" {
			c.patience = min(resumeTimeout, silentBeats*c.heartbeat)
		}
		err = c.read(ctx)
	}
	reason := c.closed(ctx, err)
	reason.ready = c.ready.Load()
	if ctx.Err() == nil && from.ID != "" {
		c.countResume(&reason)
	}
	c.disconnected(reason)
	end()
	c.resumes.Store(!reason.newSession && reason.fatal == nil && c.session.state().ID != "")
	close(c.queue)
	parts.Wait()
	c.taking.Wait()
	return reason
}

// begin resumes the session, or identifies for a new one.
func (c *connection) begin(from session) error {
	if from.ID != "" {
		return c.write(opResume, map[string]any{"token": c.Token, "session_id": from.ID, "seq": from.Seq})
	}
	return c.write(opIdentify, map[string]any{
		"token": c.Token, "intents": c.intents, "shard": []int{c.n, c.of},
		"properties": map[string]string{"os": runtime.GOOS, "browser": "gatehouse", "device": "gatehouse"},
	})
}

// read receives until the connection ends.
func (c *connection) read(ctx context.Context) error {
	c.await()
	for {
		_, data, err := c.conn.ReadMessage()
		if err != nil {
			return err
		}
		var p discordgo.Event
		if err := inbound.Decode(data, &p); err != nil {
			c.Log.Warn("a payload of the gateway can't be read and is ignored", "bytes", len(data),
				"err", inbound.JSONFault(err))
			continue
		}
		switch p.Operation {
		case opDispatch:
			c.dispatch(ctx, p)
			c.await()
		case opHeartbeat:
			c.sendHeartbeat()
		case opHeartbeatAck:
			c.acked.Store(true)
		case opReconnect:
			c.close(closeReason{text: "Discord asks for another connection"})
		case opInvalidSession:
			c.close(
				closeReason{
					newSession: string(p.RawData) != "true", wait: invalidWait, text: "Discord has ended the session",
				})
		}
	}
}

// await sets the time by which another event must come if the session has not begun. Once it has, silence is no fault.
func (c *connection) await() {
	until := time.Time{}
	if !c.ready.Load() {
		until = time.Now().Add(c.patience)
	}
	_ = c.conn.SetReadDeadline(until) // an error comes with the next read
}

// dispatch queues an event, which is committed after those before it. A button press waits for none of them, since its
// answer is due in three seconds. The sequence number does not pass a press before its commit.
func (c *connection) dispatch(ctx context.Context, p discordgo.Event) {
	e := event{seq: p.Sequence, name: p.Type, data: p.RawData}
	switch p.Type {
	case "READY":
		if !c.started(p) {
			return
		}
	case "RESUMED":
		c.connected("the session with Discord was resumed")
	case "INTERACTION_CREATE":
		if isPress(p.RawData) {
			e.done = make(chan struct{})
			c.taking.Go(func() {
				if c.take(ctx, e) {
					close(e.done)
				}
			})
		}
	}
	select {
	case c.queue <- e:
	case <-ctx.Done():
	}
}

// isPress reports whether an interaction is a button press or a submitted form.
func isPress(data []byte) bool {
	var i struct {
		Type discordgo.InteractionType `json:"type"`
	}
	return inbound.Decode(data, &i) == nil &&
		(i.Type == discordgo.InteractionMessageComponent || i.Type == discordgo.InteractionModalSubmit)
}

// started records a new session and its resume address. It returns false if the payload can't be used.
func (c *connection) started(p discordgo.Event) bool {
	type object struct {
		ID string `json:"id"`
	}
	var r struct {
		ID          string `json:"session_id"`
		URL         string `json:"resume_gateway_url"`
		User        object `json:"user"`
		Application object `json:"application"`
	}
	if err := inbound.Decode(p.RawData, &r); err != nil || r.ID == "" || r.User.ID != c.bot {
		c.close(closeReason{newSession: true, wait: invalidWait, text: "Discord began a session in a way that can't " +
			"be read"})
		return false
	}
	c.Ready(r.Application.ID)
	c.session.begin(r.ID, r.URL, p.Sequence, c.intents)
	c.connected("a session with Discord has begun")
	return true
}

func (c *connection) connected(what string) {
	c.ready.Store(true)
	c.setHealth(shardState{connected: true})
	c.Log.Info(what, "shard", c.n)
}

// heartbeats sends heartbeats. If one is not acknowledged before the next is due, the connection is dead.
func (c *connection) heartbeats(ctx context.Context) {
	c.acked.Store(true)
	c.Sleep(ctx, time.Duration(float64(c.heartbeat)*min(max(c.Jitter(), 0), 1)))
	tick := time.NewTicker(c.heartbeat)
	defer tick.Stop()
	for ctx.Err() == nil {
		switch {
		case !c.acked.Load() && !c.acknowledged(ctx):
			c.close(closeReason{text: "Discord acknowledges no heartbeat"})
			return
		case c.session.intentsChanged():
			c.close(closeReason{newSession: true, text: "the bot is granted other intents now"})
			return
		}
		c.acked.Store(false)
		c.sendHeartbeat()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// lateAck is how long a heartbeat's acknowledgement is waited for once it is late. If this process was stopped for a
// while, it is in the connection's buffer, with clicks behind it, and is read first.
const lateAck = time.Second

// acknowledged reports whether the last heartbeat is acknowledged after all.
func (c *connection) acknowledged(ctx context.Context) bool {
	outbound.Sleep(ctx, min(lateAck, c.heartbeat/2))
	return c.acked.Load() || ctx.Err() != nil
}

// sendHeartbeat sends the committed sequence number: Discord need not keep the events before it.
func (c *connection) sendHeartbeat() {
	var seq *int64
	if s := c.session.state(); s.ID != "" {
		seq = &s.Seq
	}
	if err := c.write(opHeartbeat, seq); err != nil {
		c.Log.Debug("a heartbeat was not sent", "err", err)
	}
}

func (c *connection) write(op int, data any) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // an error comes with the write
	return c.conn.WriteJSON(map[string]any{"op": op, "d": data})
}

// resumable is gatehouse's own close code: 1000 and 1001 would end the session.
const resumable = 4000

// close ends the connection so that its session can be resumed.
func (c *connection) close(r closeReason) {
	c.mu.Lock()
	if c.reason == nil {
		c.reason = &r
		c.disconnected(r) // now, although received events may still wait for their commit
	}
	c.mu.Unlock()
	_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(resumable, ""),
		time.Now().Add(time.Second))
	c.conn.Close()
}

// closed returns why the connection has ended.
func (c *connection) closed(ctx context.Context, err error) closeReason {
	c.mu.Lock()
	reason := c.reason
	c.mu.Unlock()
	closed, ok := errors.AsType[*websocket.CloseError](err)
	late, timed := errors.AsType[net.Error](err)
	switch {
	case reason != nil:
		return *reason
	case ctx.Err() != nil:
		return closeReason{}
	case ok:
		return c.reasonOf(closed.Code)
	case timed && late.Timeout():
		return closeReason{text: "Discord did not begin the session"}
	}
	return closeReason{text: "the connection broke"}
}
