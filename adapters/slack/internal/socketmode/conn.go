package socketmode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack/socketmode"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// Times of one connection.
const (
	helloTime = 10 * time.Second // from dialling to Slack's hello
	writeTime = 5 * time.Second
	closeTime = time.Second // how long Slack may take to answer a close
)

// maxFrame is how many bytes a frame may have, as many as a body over HTTP: far above what Slack sends. A larger one
// ends the connection before more of it is read.
const maxFrame = 1 << 20

// conn is one connection.
type conn struct {
	client *Client
	ws     *websocket.Conn
	pings  pings
	ctx    context.Context    // ends with the connection
	end    context.CancelFunc // closes it
	work   work

	writing sync.Mutex
	broken  atomic.Bool // nothing more can be written

	replaced context.Context // ends once another connection should replace this one, with the reason as its cause
	replace  context.CancelCauseFunc
}

// websockets opens Slack's.
var websockets = outbound.Socket{Title: webapi.Title, URLKey: "SLACK_API_URL", Hello: helloTime, Limit: maxFrame}

// Dial opens a websocket at the address that apps.connections.open returned, and waits for Slack's hello; or for the
// announcement that it closes the connection at once. Error: as outbound.Socket has it. The address is a secret and is
// never logged.
func Dial(ctx context.Context, address string) (*websocket.Conn, socketmode.Request, error) {
	var hello socketmode.Request
	ws, err := websockets.Dial(ctx, address, &hello)
	if err == nil && hello.Type != socketmode.RequestTypeHello && hello.Type != socketmode.RequestTypeDisconnect {
		ws.Close()
		err = websockets.NoHello(address, nil)
	}
	return ws, hello, err
}

// dial opens a connection.
func (c *Client) dial(ctx context.Context) (*conn, error) {
	address, err := c.app.OpenSocket(ctx)
	if err != nil {
		return nil, err
	}
	ws, hello, err := Dial(ctx, address)
	switch {
	case err != nil:
		return nil, err
	case hello.Type == socketmode.RequestTypeDisconnect:
		ws.Close()
		return nil, c.disconnected(hello.Reason)
	}
	c.count(ctx, hello.NumConnections)
	return newConn(ctx, c, ws), nil
}

func newConn(ctx context.Context, c *Client, ws *websocket.Conn) *conn {
	k := &conn{client: c, ws: ws}
	k.ctx, k.end = context.WithCancel(ctx)
	context.AfterFunc(k.ctx, func() { ws.Close() })
	k.replaced, k.replace = context.WithCancelCause(ctx)
	return k
}

// disconnected returns the error for Slack's announcement that it closes a connection: unsupported if no other one may
// be opened, else delivery_later, with a time to wait if the app has too many connections.
func (c *Client) disconnected(reason string) error {
	switch reason {
	case "link_disabled":
		return webapi.SocketsOffError(nil)
	case "too_many_websockets":
		c.Log.Warn("Slack has too many Socket Mode connections of this app open; the next one has to wait",
			"allowed", MaxConnections)
		return outbound.Wait(c.app.Jitter(CrowdedWait), nil, crowded)
	}
	return core.Errorf(core.DeliveryLater, "Slack closed the Socket Mode connection at once.")
}

var crowded = fmt.Sprintf("Slack has %d Socket Mode connections of this app open, as many as it allows. Stop the "+
	"programs that use SLACK_APP_TOKEN and are not needed.", MaxConnections)

// run reads until the connection or ctx ends. It asks for the next connection as soon as this one can no longer be
// read, and then waits until the received envelopes are handled.
func (k *conn) run(ctx context.Context) {
	k.client.opened()
	k.work.begin(ctx, k)
	k.readAll(ctx)
	k.end()
	k.client.closed()
	k.replace(nil)
	k.work.end()
}

func (k *conn) readAll(ctx context.Context) {
	k.ws.SetPingHandler(func(data string) error {
		k.pings.add(time.Now())
		k.alive()
		_ = k.write(websocket.PongMessage, []byte(data))
		return nil // what has arrived is read, even if nothing can be written
	})
	for {
		k.alive()
		kind, data, err := k.ws.ReadMessage()
		if err != nil {
			k.logEnd(err)
			return
		}
		if kind == websocket.TextMessage {
			k.receive(ctx, data)
		}
	}
}

// alive sets the time by which the next frame must arrive. From a connection that is broken only those are read that
// have arrived.
func (k *conn) alive() {
	patience := k.pings.patience()
	if k.broken.Load() {
		patience = 0
	}
	_ = k.ws.SetReadDeadline(time.Now().Add(patience))
}

func (k *conn) logEnd(err error) {
	var timeout net.Error
	switch {
	case k.ctx.Err() != nil: // we closed it
	case errors.Is(err, websocket.ErrReadLimit):
		k.client.Log.Warn("a Socket Mode frame is too large, and its connection is closed; another one is opened",
			"limit", maxFrame)
	case errors.As(err, &timeout) && timeout.Timeout():
		k.client.Log.Warn("a Socket Mode connection is silent; another one is opened", "silence", k.pings.patience())
	default:
		k.client.Log.Info("a Socket Mode connection has closed; another one is opened")
	}
}

// receive passes a frame on to be handled. It must not block: Slack closes a connection that does not answer pings.
func (k *conn) receive(ctx context.Context, data []byte) {
	var f socketmode.Request
	if err := inbound.Decode(data, &f); err != nil {
		k.client.Log.Warn("a Socket Mode frame can't be read and is ignored", "bytes", len(data),
			"err", inbound.JSONFault(err))
		return
	}
	switch {
	case f.Type == socketmode.RequestTypeDisconnect:
		k.replace(k.client.disconnected(f.Reason)) // this connection is read as long as it lasts
	case f.EnvelopeID == "" || k.work.add(ctx, k, f):
	case f.Type == socketmode.RequestTypeEventsAPI:
		k.work.full.Do(func() {
			k.client.Log.Warn("the queue of a Socket Mode connection is full; Slack sends the event again")
		})
	default:
		k.work.crowded.Do(func() {
			k.client.Log.Warn("too many clicks and commands are in progress; another one is not handled, and Slack "+
				"shows its person an error", "limit", maxInteractions)
		})
	}
}

// retire reads a replaced connection for a while and then closes it.
func (k *conn) retire() {
	k.client.app.Sleep(k.ctx, GraceTime)
	k.close()
}

// close closes the connection and waits a moment for Slack's answer.
func (k *conn) close() {
	if err := k.write(websocket.CloseMessage,
		websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")); err == nil {
		outbound.Sleep(k.ctx, closeTime)
	}
	k.end()
}

// handle handles an envelope, then acknowledges it if Receive returns ack.
func (k *conn) handle(ctx context.Context, f socketmode.Request) {
	if ctx.Err() != nil {
		return
	}
	response, ack := k.client.app.Receive(ctx, f.Type, f.Payload)
	if !ack {
		return
	}
	// contains only strings: can't fail
	text, _ := json.Marshal(socketmode.Response{EnvelopeID: f.EnvelopeID, Payload: response})
	// Slack sends an event again; it is already stored then
	if err := k.write(websocket.TextMessage, text); err != nil {
		k.client.Log.Debug("an acknowledgement was not sent", "err", err)
	}
}

// write writes a frame. After one that fails no other can succeed, so the connection is over, but for what has arrived:
// after a pause of this process, clicks may be among it.
func (k *conn) write(kind int, data []byte) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	err := k.ws.SetWriteDeadline(time.Now().Add(writeTime))
	if err == nil {
		err = k.ws.WriteMessage(kind, data)
	}
	if err != nil {
		k.broken.Store(true)
		_ = k.ws.SetReadDeadline(time.Now())
	}
	return err
}

// How often Slack pings.
const (
	pingPeriod  = 30 * time.Second // assumed until enough pings have been seen
	minPatience = time.Second
	minGaps     = 3 // how many periods must have been seen before they are used
	maxGaps     = 4 // how many of the last periods are used
)

// pings measures how often Slack pings. Two periods of silence mean that the connection is dead. Only the goroutine
// that reads uses it.
type pings struct {
	last time.Time
	gaps []time.Duration // the last periods
}

func (p *pings) add(now time.Time) {
	if !p.last.IsZero() {
		p.gaps = append(p.gaps, now.Sub(p.last))
		p.gaps = p.gaps[max(0, len(p.gaps)-maxGaps):]
	}
	p.last = now
}

// patience returns how long the connection may be silent: twice the longest of the last periods.
func (p *pings) patience() time.Duration {
	if len(p.gaps) < minGaps {
		return 2 * pingPeriod
	}
	return min(max(2*slices.Max(p.gaps), minPatience), 2*pingPeriod)
}
