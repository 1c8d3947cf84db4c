package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
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
	helloTimeout = 10 * time.Second // from dialling to Discord's hello
	readyTimeout = time.Minute      // from hello until the session has begun
	writeTimeout = 5 * time.Second
	maxPayload   = 64 << 20 // bytes; the description of a large server has some millions
)

// connection is one websocket.
type connection struct {
	*committer
	conn      *websocket.Conn
	began     time.Time
	heartbeat time.Duration    // interval
	intents   discordgo.Intent // for a new session

	writing sync.Mutex
	acked   atomic.Bool // the last heartbeat was acknowledged
	ready   atomic.Bool // the session has begun, or was resumed

	mu     sync.Mutex
	reason *closeReason // why this side ends it; nil: it does not
}

// dial opens a connection and waits for Discord's hello.
func (s *shard) dial(ctx context.Context, address string) (*connection, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, core.Errorf(core.DeliveryLater, "Discord returned no valid address of its gateway.")
	}
	u.RawQuery = "v=10&encoding=json"
	if u.Path == "" {
		u.Path = "/"
	}
	dialer := websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, HandshakeTimeout: helloTimeout,
		NetDialContext: (&net.Dialer{Timeout: outbound.DialTimeout}).DialContext,
	}
	conn, answer, err := dialer.DialContext(ctx, u.String(), nil)
	if answer != nil && answer.Body != nil {
		answer.Body.Close()
	}
	if err != nil {
		return nil, core.Wrap(core.DeliveryLater, err, "Discord's gateway can't be reached.")
	}
	conn.SetReadLimit(maxPayload)
	_ = conn.SetReadDeadline(time.Now().Add(helloTimeout))
	c := &connection{committer: newCommitter(s), conn: conn, began: time.Now()}
	var p discordgo.Event
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if err := conn.ReadJSON(&p); err != nil || p.Operation != opHello || json.Unmarshal(p.RawData, &hello) != nil ||
		hello.Interval <= 0 {
		conn.Close()
		return nil, core.Wrap(core.DeliveryLater, err, "Discord's gateway sent no hello.")
	}
	_ = conn.SetReadDeadline(time.Time{})
	c.heartbeat, c.intents = time.Duration(hello.Interval)*time.Millisecond, s.Intents()
	return c, nil
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
		err = c.read(ctx)
	}
	reason := c.closed(ctx, err)
	reason.ready = c.ready.Load()
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
		case !c.acked.Load():
			c.close(closeReason{text: "Discord acknowledges no heartbeat"})
			return
		case !c.ready.Load() && time.Since(c.began) > readyTimeout:
			c.close(closeReason{text: "Discord did not begin the session"})
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
	switch {
	case reason != nil:
		return *reason
	case ctx.Err() != nil:
		return closeReason{}
	case ok:
		return c.reasonOf(closed.Code)
	}
	return closeReason{text: "the connection broke"}
}
