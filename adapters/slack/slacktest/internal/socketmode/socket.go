package socketmode

import (
	"encoding/json"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"gatehouse/adapters/internal/fakeserver"
)

// MaxSockets is how many sockets an app may hold open at a time.
const MaxSockets = 10

// Socket is one Socket Mode connection, open or not.
type Socket struct {
	ID   int
	h    *Hub
	conn *websocket.Conn
	wmu  sync.Mutex // one frame at a time
	gone chan struct{}

	// The rest is under the server's lock.
	open     bool
	silent   bool
	ended    string
	openedAt time.Time
	closedAt time.Time
	sent     int
	acked    int
	pongs    int
}

// ack is an acknowledgement by socket.
type ack struct{ payload []byte }

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// Ticket returns a new ticket, which opens one socket. The caller holds the lock.
func Ticket(h *Hub) string {
	ticket := h.o.Secret()
	h.tickets[ticket] = true
	return ticket
}

// Serve opens a socket for a ticket, which is valid once, and serves it until it ends. The caller does not hold the
// lock.
func Serve(h *Hub, w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	h.mu.Lock()
	good := h.tickets[ticket]
	delete(h.tickets, ticket)
	h.mu.Unlock()
	if !good {
		http.Error(w, "bad ticket", http.StatusUnauthorized)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	socket := &Socket{h: h, conn: conn, gone: make(chan struct{})}
	if !socket.begin() {
		return
	}
	h.host.Go(socket.ping)
	socket.read()
}

// Drop ends all sockets when the fake closes. The caller holds the lock.
func Drop(h *Hub, why string) {
	for _, socket := range h.sockets {
		socket.drop(why)
	}
}

// begin sends the hello and adds the socket to the open ones. The hello is written under the lock, so that no event
// overtakes it.
func (k *Socket) begin() bool {
	h := k.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.host.Ctx.Err() != nil {
		_ = k.conn.Close()
		return false
	}
	if h.openSockets() >= MaxSockets {
		_ = k.write(map[string]any{"type": "disconnect", "reason": "too_many_websockets", "debug_info": debugInfo})
		_ = k.conn.Close()
		return false
	}
	h.nextSocket++
	k.ID, k.open, k.openedAt = h.nextSocket, true, h.o.Now()
	h.sockets = append(h.sockets, k)
	close(h.opened)
	h.opened = make(chan struct{})
	k.conn.SetPongHandler(func(string) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		k.pongs++
		return nil
	})
	k.conn.SetPingHandler(func(data string) error {
		if k.State().Silent {
			return nil
		}
		return k.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
	})
	k.silent = h.newSocketsSilent
	if h.newSocketsSilent {
		h.host.Changed()
		return true
	}
	err := k.write(map[string]any{
		"type": "hello", "num_connections": h.openSockets(), "connection_info": map[string]any{"app_id": h.o.AppID},
		"debug_info": debugInfo,
	})
	h.host.Changed()
	if err != nil {
		k.drop(err.Error())
	}
	return err == nil
}

var debugInfo = map[string]any{"host": "applink-slacktest", "build_number": 1, "approximate_connection_time": 18060}

// deliver writes a frame, and drops the socket if that fails, because nothing can be written after it. The caller does
// not hold the lock.
func (k *Socket) deliver(frame any) error {
	err := k.write(frame)
	if err != nil {
		k.h.mu.Lock()
		defer k.h.mu.Unlock()
		k.drop(err.Error())
	}
	return err
}

func (k *Socket) write(frame any) error {
	data, isRaw := frame.([]byte)
	if !isRaw {
		data = fakeserver.JSON(frame)
	}
	k.wmu.Lock()
	defer k.wmu.Unlock()
	_ = k.conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	return k.conn.WriteMessage(websocket.TextMessage, data)
}

// read receives acknowledgements until the socket ends.
func (k *Socket) read() {
	h := k.h
	for {
		_, data, err := k.conn.ReadMessage()
		if err != nil {
			h.mu.Lock()
			k.drop("closed by the app: " + err.Error())
			h.mu.Unlock()
			return
		}
		var frame struct {
			EnvelopeID string          `json:"envelope_id"`
			Payload    json.RawMessage `json:"payload"`
		}
		_ = json.Unmarshal(data, &frame)
		h.mu.Lock()
		if waiting := h.acks[frame.EnvelopeID]; waiting != nil && frame.EnvelopeID != "" {
			delete(h.acks, frame.EnvelopeID)
			k.acked++
			waiting <- ack{payload: frame.Payload}
		} else {
			h.strayAcks = append(h.strayAcks, string(data))
		}
		h.host.Changed()
		h.mu.Unlock()
	}
}

func (k *Socket) ping() {
	ticker := time.NewTicker(k.h.o.PingEvery)
	defer ticker.Stop()
	for {
		if !k.State().Silent {
			_ = k.conn.WriteControl(websocket.PingMessage, []byte("Ping from applink-slacktest"),
				time.Now().Add(time.Second))
		}
		select {
		case <-ticker.C:
		case <-k.gone:
			return
		}
	}
}

// drop ends the socket, if it is open. The caller holds the server's lock.
func (k *Socket) drop(why string) {
	if !k.open {
		return
	}
	k.open, k.ended, k.closedAt = false, why, k.h.o.Now()
	close(k.gone)
	_ = k.conn.Close()
	k.h.host.Changed()
}

func (h *Hub) openSockets() int {
	n := 0
	for _, k := range h.sockets {
		if k.open {
			n++
		}
	}
	return n
}

// Sockets returns all sockets so far, including those that have ended.
func (h *Hub) Sockets() []*Socket {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*Socket{}, h.sockets...)
}

// OpenSockets counts the sockets that are open.
func (h *Hub) OpenSockets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.openSockets()
}

// StrayAcks returns the frames from the app that acknowledged no pending envelope: unknown envelopes, second
// acknowledgements, or no JSON.
func (h *Hub) StrayAcks() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.strayAcks...)
}

// SocketState is the state of a socket at one moment.
type SocketState struct {
	Open     bool
	Silent   bool
	Ended    string // why it is no longer open
	OpenedAt time.Time
	ClosedAt time.Time
	Sent     int // envelopes
	Acked    int
	Pongs    int
}

// State returns the current state of the socket.
func (k *Socket) State() SocketState {
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	return SocketState{
		Open: k.open, Silent: k.silent, Ended: k.ended, OpenedAt: k.openedAt, ClosedAt: k.closedAt, Sent: k.sent,
		Acked: k.acked, Pongs: k.pongs,
	}
}

// GoSilent keeps the socket open and sends nothing more on it, neither pings nor pongs; events sent over it never
// arrive.
func (k *Socket) GoSilent() {
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	k.silent = true
	k.h.host.Changed()
}

// NewSocketsSilent makes sockets that open from now on silent from the start: they do not even send a hello.
func (h *Hub) NewSocketsSilent(silent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.newSocketsSilent = silent
}

// Disconnect sends a disconnect frame: warning, refresh_requested, link_disabled or too_many_websockets. After the last
// two the socket is closed; after the others it stays open until Close, or until the app closes it.
func (k *Socket) Disconnect(reason string) {
	_ = k.write(map[string]any{"type": "disconnect", "reason": reason, "debug_info": debugInfo})
	if reason == "link_disabled" || reason == "too_many_websockets" {
		k.Close()
	}
}

// Close ends the socket with a close frame.
func (k *Socket) Close() {
	_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""),
		time.Now().Add(time.Second))
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	k.drop("closed")
}

// Reset breaks the connection without a close frame.
func (k *Socket) Reset() {
	if tcp, ok := k.conn.NetConn().(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	k.h.mu.Lock()
	defer k.h.mu.Unlock()
	k.drop("reset")
}
