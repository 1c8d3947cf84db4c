package slacktest

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"gatehouse/adapters/internal/fakeserver"

	"github.com/gorilla/websocket"
)

// MaxSockets is how many sockets an app may hold open at a time.
const MaxSockets = 10

// Socket is one Socket Mode connection, open or not.
type Socket struct {
	ID   int
	s    *Server
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

var socketMethods = map[string]method{
	"apps.connections.open": {app: true, do: openConnection},
}

// openConnection hands out an address that opens one socket.
func openConnection(q *request) (object, *failure) {
	ticket := q.s.ids.secret()
	q.s.tickets[ticket] = true
	return object{"url": strings.Replace(q.s.base, "http", "ws", 1) + "/link/?ticket=" + ticket + "&app_id=" + q.s.o.AppID}, nil
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// serveSocket takes a ticket, once, and holds the socket until it ends.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	good := s.tickets[ticket]
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !good {
		http.Error(w, "bad ticket", http.StatusUnauthorized)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	socket := &Socket{s: s, conn: conn, gone: make(chan struct{})}
	if !socket.begin() {
		return
	}
	s.host.Go(socket.ping)
	socket.read()
}

// begin says hello and takes its place among the open sockets. The hello is written under the lock, so that no event overtakes it.
func (k *Socket) begin() bool {
	s := k.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		_ = k.conn.Close()
		return false
	}
	if s.openSockets() >= MaxSockets {
		_ = k.write(object{"type": "disconnect", "reason": "too_many_websockets", "debug_info": debugInfo})
		_ = k.conn.Close()
		return false
	}
	s.nextSocket++
	k.ID, k.open, k.openedAt = s.nextSocket, true, s.o.Now()
	s.sockets = append(s.sockets, k)
	close(s.opened)
	s.opened = make(chan struct{})
	k.conn.SetPongHandler(func(string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		k.pongs++
		return nil
	})
	k.conn.SetPingHandler(func(data string) error {
		if k.State().Silent {
			return nil
		}
		return k.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
	})
	k.silent = s.newSocketsSilent
	if s.newSocketsSilent {
		s.changed()
		return true
	}
	err := k.write(object{
		"type": "hello", "num_connections": s.openSockets(), "connection_info": object{"app_id": s.o.AppID}, "debug_info": debugInfo,
	})
	s.changed()
	if err != nil {
		k.drop(err.Error())
	}
	return err == nil
}

var debugInfo = object{"host": "applink-slacktest", "build_number": 1, "approximate_connection_time": 18060}

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

// read takes acknowledgements until the socket ends.
func (k *Socket) read() {
	s := k.s
	for {
		_, data, err := k.conn.ReadMessage()
		if err != nil {
			s.mu.Lock()
			k.drop("closed by the app: " + err.Error())
			s.mu.Unlock()
			return
		}
		var frame struct {
			EnvelopeID string          `json:"envelope_id"`
			Payload    json.RawMessage `json:"payload"`
		}
		_ = json.Unmarshal(data, &frame)
		s.mu.Lock()
		if waiting := s.acks[frame.EnvelopeID]; waiting != nil && frame.EnvelopeID != "" {
			delete(s.acks, frame.EnvelopeID)
			k.acked++
			waiting <- ack{payload: frame.Payload}
		} else {
			s.strayAcks = append(s.strayAcks, string(data))
		}
		s.changed()
		s.mu.Unlock()
	}
}

func (k *Socket) ping() {
	ticker := time.NewTicker(k.s.o.PingEvery)
	defer ticker.Stop()
	for {
		if !k.State().Silent {
			_ = k.conn.WriteControl(websocket.PingMessage, []byte("Ping from applink-slacktest"), time.Now().Add(time.Second))
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
	k.open, k.ended, k.closedAt = false, why, k.s.o.Now()
	close(k.gone)
	_ = k.conn.Close()
	k.s.changed()
}

func (s *Server) openSockets() int {
	n := 0
	for _, k := range s.sockets {
		if k.open {
			n++
		}
	}
	return n
}

// Sockets are all sockets so far, the ended ones among them.
func (s *Server) Sockets() []*Socket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Socket{}, s.sockets...)
}

// OpenSockets counts the sockets that are open.
func (s *Server) OpenSockets() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.openSockets()
}

// StrayAcks are frames from the app that acknowledged nothing that waits: unknown envelopes, second acknowledgements, or no JSON.
func (s *Server) StrayAcks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.strayAcks...)
}

// SocketState is what is known of a socket at one moment.
type SocketState struct {
	Open     bool
	Silent   bool
	Ended    string // why it is not open any more
	OpenedAt time.Time
	ClosedAt time.Time
	Sent     int // envelopes
	Acked    int
	Pongs    int
}

// State is what is known of the socket now.
func (k *Socket) State() SocketState {
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	return SocketState{Open: k.open, Silent: k.silent, Ended: k.ended, OpenedAt: k.openedAt, ClosedAt: k.closedAt, Sent: k.sent, Acked: k.acked, Pongs: k.pongs}
}

// GoSilent keeps the socket open and sends nothing more on it, no pings and no pongs either; what Slack sends there never arrives.
func (k *Socket) GoSilent() {
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	k.silent = true
	k.s.changed()
}

// NewSocketsSilent makes sockets that open from now on silent from the start: not even a hello comes.
func (s *Server) NewSocketsSilent(silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.newSocketsSilent = silent
}

// Disconnect sends a disconnect frame: warning, refresh_requested, link_disabled or too_many_websockets. After the last two the socket is
// closed; after the others it stays open until Close, or until the app closes it.
func (k *Socket) Disconnect(reason string) {
	_ = k.write(object{"type": "disconnect", "reason": reason, "debug_info": debugInfo})
	if reason == "link_disabled" || reason == "too_many_websockets" {
		k.Close()
	}
}

// Close ends the socket with a close frame.
func (k *Socket) Close() {
	_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	k.drop("closed")
}

// Reset breaks the connection without a word.
func (k *Socket) Reset() {
	if tcp, ok := k.conn.NetConn().(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	k.drop("reset")
}
