package wire

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Sockets is a server of websockets.
type Sockets struct {
	server   *http.Server
	listener net.Listener
	handle   func(*Socket)

	mu   sync.Mutex
	open map[*Socket]struct{} // nil: closed
	work sync.WaitGroup
}

// Socket is one websocket. It is read by one goroutine, and may be written by several.
type Socket struct {
	conn    *websocket.Conn
	writing sync.Mutex
	gone    chan struct{} // closed when it has ended
}

// ServeSockets starts a server of websockets on a free port of this machine; handle reads one until it ends. Close ends
// the server.
func ServeSockets(handle func(*Socket)) (*Sockets, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	s := &Sockets{listener: l, handle: handle, open: map[*Socket]struct{}{}}
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	s.work.Go(func() {
		if err := s.server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // the listener is ours
		}
	})
	return s, nil
}

// URL is the address at which a websocket is opened.
func (s *Sockets) URL() string { return "ws://" + s.listener.Addr().String() + "/" }

// Close ends the server and all websockets, and waits for their goroutines. It does nothing for nil.
func (s *Sockets) Close() {
	if s == nil {
		return
	}
	_ = s.server.Close()
	s.mu.Lock()
	for one := range s.open {
		_ = one.conn.Close()
	}
	s.open = nil
	s.mu.Unlock()
	s.work.Wait()
}

// maxFrame is the largest frame that is read.
const maxFrame = 1 << 20

func (s *Sockets) serve(w http.ResponseWriter, r *http.Request) {
	conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return // it has answered
	}
	conn.SetReadLimit(maxFrame)
	one := &Socket{conn: conn, gone: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		_ = conn.Close()
		return
	}
	s.open[one] = struct{}{}
	s.work.Go(func() {
		s.handle(one)
		close(one.gone)
		_ = conn.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, one)
	})
}

// Read returns the next frame. An error means that the websocket has ended.
func (s *Socket) Read() ([]byte, error) {
	_, frame, err := s.conn.ReadMessage()
	return frame, err
}

// Write sends a frame of text.
func (s *Socket) Write(frame []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.conn.WriteMessage(websocket.TextMessage, frame)
}

// pingTime is how long a ping may take to be written.
const pingTime = 5 * time.Second

// Ping sends a ping. The answer is read by Read.
func (s *Socket) Ping() error {
	return s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(pingTime))
}

// Gone is closed when the websocket has ended.
func (s *Socket) Gone() <-chan struct{} { return s.gone }
