package socketmode

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack/socketmode"
)

// storing is an app that stores every envelope.
type storing struct{ App }

func (storing) Receive(context.Context, string, []byte) (any, bool) { return nil, true }
func (storing) SocketUp(time.Duration)                              {}

// blocked is a handler that waits until it is closed.
type blocked chan struct{}

func (b blocked) handle(context.Context, socketmode.Request) { <-b }

// brokenWriter is a network connection whose writes fail once it is cut.
type brokenWriter struct {
	net.Conn
	cut *atomic.Bool
}

func (c brokenWriter) Write(b []byte) (int, error) {
	if c.cut.Load() {
		return 0, errors.New("nothing can be written")
	}
	return c.Conn.Write(b)
}

// TestConnectionThatCannotAcknowledgeEnds checks that such a connection is not read on: Slack would send all its events
// in vain until the next ping.
func TestConnectionThatCannotAcknowledgeEnds(t *testing.T) {
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		upgrader := websocket.Upgrader{}
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.Close()
		_ = ws.WriteJSON(socketmode.Request{Type: socketmode.RequestTypeEventsAPI, EnvelopeID: "E1"})
		_, _, err = ws.ReadMessage() // until the client closes
		if err == nil {
			t.Error("an acknowledgement arrived")
		}
	}))
	defer server.Close()
	var cut atomic.Bool
	dialer := websocket.Dialer{NetDial: func(network, address string) (net.Conn, error) {
		conn, err := net.Dial(network, address)
		return brokenWriter{conn, &cut}, err
	}}
	ws, response, err := dialer.Dial(strings.Replace(server.URL, "http", "ws", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	cut.Store(true)
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	k := newConn(ctx, &Client{app: storing{}, Log: slog.New(slog.DiscardHandler)}, ws)
	k.run(ctx)
	if ctx.Err() != nil {
		t.Error("the connection was still read after 20 s")
	}
	<-gone
}

// What waits to be handled is limited in bytes too, so that large frames can't fill the memory.
func TestWaitingEnvelopesAreLimitedInBytes(t *testing.T) {
	var w work
	let := make(blocked)
	w.begin(t.Context(), let)
	large := socketmode.Request{Type: socketmode.RequestTypeEventsAPI, Payload: make([]byte, maxFrame)}
	taken := 0
	for w.add(t.Context(), let, large) {
		taken++
	}
	if taken != maxWaiting/maxFrame {
		t.Errorf("%d frames of %d bytes were taken", taken, maxFrame)
	}
	close(let)
	w.end()
	if left := w.waiting.Load(); left != 0 {
		t.Errorf("%d bytes are counted after all were handled", left)
	}
}
