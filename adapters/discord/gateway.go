package discord

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

	"github.com/gorilla/websocket"

	"gatehouse/core"
)

// The operations of the gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opBeatHeard = 11
)

// Numbers of one connection.
const (
	helloTime   = 10 * time.Second // from dialling to Discord's hello
	readyTime   = time.Minute      // from there to the session
	writeTime   = 5 * time.Second
	maxFrame    = 64 << 20 // bytes; a large server's description has some millions
	queueLength = 1024     // events that wait for their commit
)

// frame is what goes over a connection.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

// link is one connection.
type link struct {
	shard *shard
	conn  *websocket.Conn
	began time.Time
	every time.Duration // between two heartbeats
	queue chan item
	asks  int // the intents that a new session is asked for

	writing sync.Mutex
	heard   atomic.Bool // the last heartbeat was acknowledged
	live    atomic.Bool // the session has begun, or goes on
	resumes atomic.Bool // the session goes on over the next connection
	beside  sync.WaitGroup

	waiting map[string]chan struct{} // of commits: by channel and by message that may begin a thread, the last event that is taken beside the others

	mu   sync.Mutex
	part *parting // why it ends, where we end it
}

// dial opens a connection and waits for Discord's hello.
func (s *shard) dial(ctx context.Context, address string) (*link, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, core.Errorf(core.DeliveryLater, "Discord names no address of its gateway.")
	}
	u.RawQuery = "v=10&encoding=json"
	if u.Path == "" {
		u.Path = "/"
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: helloTime, NetDialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext}
	conn, answer, err := dialer.DialContext(ctx, u.String(), nil)
	if answer != nil && answer.Body != nil {
		answer.Body.Close()
	}
	if err != nil {
		return nil, core.Wrap(core.DeliveryLater, err, "Discord's gateway can't be reached.")
	}
	conn.SetReadLimit(maxFrame)
	_ = conn.SetReadDeadline(time.Now().Add(helloTime))
	k := &link{shard: s, conn: conn, began: time.Now(), queue: make(chan item, queueLength), waiting: map[string]chan struct{}{}}
	var f frame
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if err := conn.ReadJSON(&f); err != nil || f.Op != opHello || json.Unmarshal(f.Data, &hello) != nil || hello.Interval <= 0 {
		conn.Close()
		return nil, core.Wrap(core.DeliveryLater, err, "Discord's gateway did not say hello.")
	}
	_ = conn.SetReadDeadline(time.Time{})
	k.every, k.asks = time.Duration(hello.Interval)*time.Millisecond, s.discord.intents()
	return k, nil
}

// run goes on with a session, or begins one, and hears until the connection ends, or ctx does. Everything that was heard is
// committed before it comes back, unless ctx ends, or it comes again in the resumed session.
func (k *link) run(ctx context.Context, from session) parting {
	defer k.conn.Close()
	over, end := context.WithCancel(ctx)
	defer end()
	stop := context.AfterFunc(ctx, func() { k.close(parting{}) })
	defer stop()
	var parts sync.WaitGroup
	parts.Go(func() { k.beats(over) })
	parts.Go(func() { k.commits(ctx, from) })
	err := k.greet(from)
	if err == nil {
		err = k.reads(ctx)
	}
	part := k.parted(ctx, err)
	part.lived = k.live.Load()
	k.shard.deaf(part)
	end()
	k.resumes.Store(!part.anew && part.fatal == nil && k.shard.keep.state().ID != "")
	close(k.queue)
	parts.Wait()
	k.beside.Wait()
	return part
}

// greet resumes the session, or begins a new one.
func (k *link) greet(from session) error {
	d := k.shard.discord
	if from.ID != "" {
		return k.write(opResume, map[string]any{"token": d.Config.BotToken, "session_id": from.ID, "seq": from.Seq})
	}
	return k.write(opIdentify, map[string]any{
		"token": d.Config.BotToken, "intents": k.asks, "shard": []int{k.shard.n, k.shard.of},
		"properties": map[string]string{"os": runtime.GOOS, "browser": "gatehouse", "device": "gatehouse"},
	})
}

// The kinds of events that the gateway is asked for.
const (
	intentGuilds         = 1 << 0
	intentGuildMessages  = 1 << 9
	intentDirectMessages = 1 << 12
	intentContent        = 1 << 15 // privileged: it must be granted
)

// intents are the least that serve: without the content of messages the bot hears what mentions it, and direct messages.
func (d *Discord) intents() int {
	intents := intentGuilds | intentGuildMessages | intentDirectMessages
	if d.reads() {
		intents |= intentContent
	}
	return intents
}

// reads hears frames until the connection ends.
func (k *link) reads(ctx context.Context) error {
	for {
		_, data, err := k.conn.ReadMessage()
		if err != nil {
			return err
		}
		var f frame
		if err := json.Unmarshal(data, &f); err != nil {
			k.shard.discord.Log.Warn("a word over the gateway can't be read and is passed over", "bytes", len(data), "err", shape(err))
			continue
		}
		switch f.Op {
		case opDispatch:
			k.dispatch(ctx, f)
		case opHeartbeat:
			k.beat()
		case opBeatHeard:
			k.heard.Store(true)
		case opReconnect:
			k.close(parting{why: "Discord asks for another connection"})
		case opInvalid:
			k.close(parting{anew: string(f.Data) != "true", wait: invalidWait, why: "Discord has ended the session"})
		}
	}
}

// dispatch takes an event. It is committed in its turn, behind those that came before; a press of a button waits for none of them,
// since there are seconds to answer it, but the session is not behind it before it is committed.
func (k *link) dispatch(ctx context.Context, f frame) {
	it := item{seq: f.Seq, kind: f.Type, data: f.Data}
	switch f.Type {
	case "READY":
		if !k.ready(f) {
			return
		}
	case "RESUMED":
		k.lives("the session with Discord goes on")
	case "INTERACTION_CREATE":
		if isPress(f.Data) {
			it.done = make(chan struct{})
			k.beside.Go(func() {
				if k.shard.take(ctx, it) {
					close(it.done)
				}
			})
		}
	}
	select {
	case k.queue <- it:
	case <-ctx.Done():
	}
}

// ready takes what a new session is called and where it is resumed.
func (k *link) ready(f frame) bool {
	var r struct {
		ID   string `json:"session_id"`
		URL  string `json:"resume_gateway_url"`
		User struct {
			ID string `json:"id"`
		} `json:"user"`
		Application struct {
			ID string `json:"id"`
		} `json:"application"`
	}
	if err := json.Unmarshal(f.Data, &r); err != nil || r.ID == "" || r.User.ID != k.shard.discord.whoami().User {
		k.close(parting{anew: true, wait: invalidWait, why: "Discord began a session in a way that can't be read"})
		return false
	}
	k.shard.discord.belongs(r.Application.ID)
	k.shard.keep.began(r.ID, r.URL, f.Seq, k.asks)
	k.lives("a session with Discord has begun")
	return true
}

func (k *link) lives(what string) {
	k.live.Store(true)
	k.shard.discord.ears.set(k.shard.n, hearing{here: true})
	k.shard.discord.Log.Info(what, "shard", k.shard.n)
}

// beats sends heartbeats. One that is not acknowledged until the next means that nobody is there.
func (k *link) beats(ctx context.Context) {
	k.heard.Store(true)
	k.shard.discord.sleep(ctx, time.Duration(float64(k.every)*min(max(k.shard.discord.Jitter(), 0), 1)))
	tick := time.NewTicker(k.every)
	defer tick.Stop()
	for ctx.Err() == nil {
		switch {
		case !k.heard.Load():
			k.close(parting{why: "Discord has gone silent and acknowledges no heartbeat"})
			return
		case !k.live.Load() && time.Since(k.began) > readyTime:
			k.close(parting{why: "Discord did not begin the session"})
			return
		case k.shard.regranted():
			k.close(parting{anew: true, why: "what the bot is granted has changed"})
			return
		}
		k.heard.Store(false)
		k.beat()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// beat tells how far the session is committed: Discord need not keep what came before.
func (k *link) beat() {
	var seq *int64
	if s := k.shard.keep.state(); s.ID != "" {
		seq = &s.Seq
	}
	if err := k.write(opHeartbeat, seq); err != nil {
		k.shard.discord.Log.Debug("a heartbeat was not sent", "err", err)
	}
}

func (k *link) write(op int, data any) error {
	text, err := json.Marshal(map[string]any{"op": op, "d": data})
	if err != nil {
		return err
	}
	k.writing.Lock()
	defer k.writing.Unlock()
	if err := k.conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	return k.conn.WriteMessage(websocket.TextMessage, text)
}

// resumable is our close code: 1000 and 1001 would end the session.
const resumable = 4000

// close ends the connection so that its session can be resumed.
func (k *link) close(p parting) {
	k.mu.Lock()
	if k.part == nil {
		k.part = &p
		k.shard.deaf(p) // now, although what was heard may still wait for its commit
	}
	k.mu.Unlock()
	_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(resumable, ""), time.Now().Add(time.Second))
	k.conn.Close()
}

// parted tells why the connection has ended, and what comes next.
func (k *link) parted(ctx context.Context, err error) parting {
	k.mu.Lock()
	part := k.part
	k.mu.Unlock()
	var closed *websocket.CloseError
	switch {
	case part != nil:
		return *part
	case ctx.Err() != nil:
		return parting{}
	case errors.As(err, &closed):
		return k.shard.discord.partingOf(closed.Code)
	}
	return parting{why: "the connection broke"}
}
