package gateway

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Connection is one connection to the gateway, open or not.
type Connection struct {
	ID       int
	g        *Gateway
	conn     *websocket.Conn
	onResume bool // opened at the address for resumes
	gone     chan struct{}
	wake     chan struct{}

	qmu   sync.Mutex // guards queue alone
	queue []frame

	// The rest is under the server's lock.
	session  *session
	of       string // the session's id, also after its end
	known    bool   // it has identified or resumed
	shard    [2]int
	compress bool
	stream   *zlibStream
	open     bool
	closing  bool
	silent   bool
	noAcks   bool
	ending   string
	code     int
	openedAt time.Time
	closedAt time.Time
	beats    []time.Time
	acks     int
	received int
	sentLog  []string
	recent   []time.Time
}

// frame is a payload or a close that is to be written.
type frame struct {
	data []byte
	code int
	text string
}

// enqueue appends a payload to those that wait to be written. A silent connection drops it.
func (c *Connection) enqueue(data []byte) {
	if c.silent || c.closing {
		return
	}
	c.push(frame{data: data})
}

func (c *Connection) push(f frame) {
	c.qmu.Lock()
	c.queue = append(c.queue, f)
	c.qmu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// closeWith ends the connection with a close frame, after all earlier frames. The session can be resumed unless the
// code forbids it.
func (c *Connection) closeWith(code int, text string) {
	if c.closing || !c.open {
		return
	}
	c.closing, c.code = true, code
	if k := c.session; k != nil && (code == 4004 || code == 4007 || code == 4009 || code >= 4010) {
		k.dead = true
	}
	c.release()
	c.push(frame{code: code, text: text})
}

// release separates the connection from its session, which can then be resumed.
func (c *Connection) release() {
	if k := c.session; k != nil {
		k.conn, k.lostAt = nil, c.g.o.Now()
		c.session = nil
	}
}

// compressFrom is the length from which payloads are compressed for a client that identified with compress.
const compressFrom = 1024

// writes sends the queued frames in order until the connection ends.
func (c *Connection) writes() {
	for {
		c.qmu.Lock()
		frames := c.queue
		c.queue = nil
		c.qmu.Unlock()
		for _, f := range frames {
			_ = c.conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
			if f.data == nil {
				_ = c.conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(f.code, f.text))
				c.g.mu.Lock()
				c.drop(fmt.Sprintf("closed with %d", f.code), f.code)
				c.g.mu.Unlock()
				return
			}
			if c.write(f.data) != nil {
				return // the reader finds out why
			}
		}
		if len(frames) > 0 {
			continue
		}
		select {
		case <-c.wake:
		case <-c.gone:
			return
		}
	}
}

func (c *Connection) write(data []byte) error {
	if c.stream != nil {
		return c.conn.WriteMessage(websocket.BinaryMessage, c.stream.next(data))
	}
	c.g.mu.Lock()
	packed := c.compress && len(data) >= compressFrom
	c.g.mu.Unlock()
	if !packed {
		return c.conn.WriteMessage(websocket.TextMessage, data)
	}
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write(data)
	_ = z.Close()
	return c.conn.WriteMessage(websocket.BinaryMessage, out.Bytes())
}

// zlibStream is the compression of a whole connection, flushed after each payload.
type zlibStream struct {
	out bytes.Buffer
	z   *zlib.Writer
}

func newZlibStream() *zlibStream {
	stream := &zlibStream{}
	stream.z = zlib.NewWriter(&stream.out)
	return stream
}

func (stream *zlibStream) next(data []byte) []byte {
	stream.out.Reset()
	_, _ = stream.z.Write(data)
	_ = stream.z.Flush()
	return bytes.Clone(stream.out.Bytes())
}

// drop ends the connection, if it is open. The caller holds the server's lock.
func (c *Connection) drop(why string, code int) {
	if !c.open {
		return
	}
	c.open, c.closing, c.ending, c.closedAt = false, true, why, c.g.o.Now()
	if c.code == 0 {
		c.code = code
	}
	c.release()
	close(c.gone)
	_ = c.conn.Close()
	c.g.host.Changed()
}

// ConnectionState is the state of a connection at one moment.
type ConnectionState struct {
	Open     bool
	Session  string // "" if it never got one
	Seq      int64  // of the last event of the session
	Shard    [2]int
	Silent   bool
	OnResume bool   // opened at the address that READY named
	Ended    string // why it has ended
	Code     int    // of the close, whoever closed it; 0 if there was none
	OpenedAt time.Time
	ClosedAt time.Time
	Beats    []time.Time // its heartbeats
	Acks     int         // those acknowledged
	Received []string    // all payloads that the client sent
}

// State returns the current state of the connection.
func (c *Connection) State() ConnectionState {
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	seq := int64(0)
	if c.session != nil {
		seq = c.session.seq
	}
	return ConnectionState{
		Seq: seq, Open: c.open, Session: c.of, Shard: c.shard, Silent: c.silent, OnResume: c.onResume, Ended: c.ending,
		Code: c.code, OpenedAt: c.openedAt,
		ClosedAt: c.closedAt, Beats: append([]time.Time{}, c.beats...), Acks: c.acks,
		Received: append([]string{}, c.sentLog...),
	}
}

// Connections returns all connections so far, also those that have ended.
func (g *Gateway) Connections() []*Connection {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]*Connection{}, g.connections...)
}

// Open returns the open connections that have a session. A client that has not read READY yet does not know the
// session's id and can't resume it.
func (g *Gateway) Open() []*Connection {
	g.mu.Lock()
	defer g.mu.Unlock()
	var found []*Connection
	for _, c := range g.connections {
		if c.open && c.session != nil {
			found = append(found, c)
		}
	}
	return found
}

// GoSilent keeps the connection open but sends nothing more, neither events nor acknowledgements. A resume replays the
// missed events.
func (c *Connection) GoSilent() { c.g.change(func() { c.silent = true }) }

// WithholdAcks leaves heartbeats unacknowledged from now on; events are still sent.
func (c *Connection) WithholdAcks() { c.g.change(func() { c.noAcks = true }) }

// AskReconnect asks the client to reconnect and resume, op 7.
func (c *Connection) AskReconnect() { c.g.change(func() { c.enqueue(opFrame(opReconnect, nil)) }) }

// AskHeartbeat asks the client for a heartbeat at once, op 1.
func (c *Connection) AskHeartbeat() { c.g.change(func() { c.enqueue(opFrame(opHeartbeat, nil)) }) }

// Invalidate tells the client that the session is invalid, op 9. Unless it is resumable, the session can't be resumed;
// the client may identify again on the same connection or on another.
func (c *Connection) Invalidate(resumable bool) {
	c.g.change(func() {
		if k := c.session; k != nil && !resumable {
			k.dead = true
			c.enqueue(opFrame(opInvalidSession, resumable))
			c.release()
			c.known = false
			return
		}
		c.enqueue(opFrame(opInvalidSession, resumable))
	})
}

// SendRaw writes a payload as it is.
func (c *Connection) SendRaw(data []byte) { c.g.change(func() { c.enqueue(data) }) }

// Close ends the connection with a close frame of any code.
func (c *Connection) Close(code int, text string) { c.g.change(func() { c.closeWith(code, text) }) }

// Reset breaks the connection without a close frame. The session can be resumed.
func (c *Connection) Reset() {
	if tcp, ok := c.conn.NetConn().(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.g.change(func() { c.drop("reset", 0) })
}

// ResetAll breaks all open connections without a close frame.
func (g *Gateway) ResetAll() {
	for _, c := range g.Connections() {
		if c.State().Open {
			c.Reset()
		}
	}
}

// RefuseConnections answers 503 to new gateway connections while it is on.
func (g *Gateway) RefuseConnections(on bool) { g.change(func() { g.refuse = on }) }

// NewConnectionsSilent makes new connections silent from the start: not even a hello is sent.
func (g *Gateway) NewConnectionsSilent(on bool) { g.change(func() { g.newSilent = on }) }

// WithholdAcks leaves heartbeats unacknowledged on connections that open from now on.
func (g *Gateway) WithholdAcks(on bool) { g.change(func() { g.noAcks = on }) }

func (g *Gateway) change(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do()
	g.host.Changed()
}
