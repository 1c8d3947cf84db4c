package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answerTime is how long a server may take to accept a message that is no call.
const answerTime = 30 * time.Second

// dialTime is how long a connection to it may take.
const dialTime = 10 * time.Second

// wire is the HTTP side of a server: it adds the entry's headers, on the server's own host only, and lets in what the gate admits.
type wire struct {
	base     *http.Transport
	endpoint *url.URL
	headers  map[string]string
	gate     *gate
	conn     sdk.Connection
}

func newWire(s Server, g *gate) (*wire, error) {
	endpoint, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: dialTime, MaxResponseHeaderBytes: 64 << 10,
		DialContext:       (&net.Dialer{Timeout: dialTime}).DialContext,
		DisableKeepAlives: true, // a call that finds no server is then surely not sent; an idle connection may be dead without a sign
	}
	return &wire{base: base, endpoint: endpoint, headers: s.Headers, gate: g}, nil
}

// reconnects is how often the SDK may open a stream again that ended; it is checked otherwise whether the server lives, and a proxy may
// well end an idle stream each minute.
const reconnects = 1 << 20

// Connect makes the SDK's connection.
func (w *wire) Connect(ctx context.Context) (sdk.Connection, error) {
	client := &http.Client{Transport: w, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		if len(via) > 3 || !w.own(to.URL) {
			return errors.New("the server redirects to another host")
		}
		return nil
	}}
	t := &sdk.StreamableClientTransport{Endpoint: w.endpoint.String(), HTTPClient: client, MaxRetries: reconnects, MaxEventSize: maxMessage + 1024}
	conn, err := t.Connect(ctx)
	w.conn = conn
	return conn, err
}

func (w *wire) own(u *url.URL) bool {
	return u.Scheme == w.endpoint.Scheme && u.Host == w.endpoint.Host
}

// RoundTrip sends a request.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := req.Context(), func() {}
	if _, limited := ctx.Deadline(); !limited && req.Method != http.MethodGet {
		ctx, cancel = context.WithTimeout(ctx, answerTime)
	}
	req = req.Clone(ctx)
	if w.own(req.URL) {
		for name, value := range w.headers {
			req.Header.Set(name, value)
		}
	}
	resp, err := w.base.RoundTrip(req)
	if err != nil {
		cancel()
		return nil, err
	}
	t, traced := ctx.Value(traceKey{}).(*trace)
	if traced = traced && req.Method == http.MethodPost; traced {
		t.status.Store(int32(resp.StatusCode))
	}
	body := resp.Body
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		body = newEvents(body, w.gate)
	} else {
		body = &limited{body, maxMessage, w.gate}
		if traced && resp.StatusCode >= http.StatusBadRequest {
			text, yes := answered(req, body)
			t.answered.Store(yes)
			body = struct {
				io.Reader
				io.Closer
			}{bytes.NewReader(text), body}
		}
	}
	resp.Body = closing{body, cancel}
	return resp, nil
}

// limited is a body of at most so many bytes.
type limited struct {
	io.ReadCloser
	left int
	gate *gate
}

// Read fails the connection when the limit is passed.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, l.gate.fail(errTooLarge)
	}
	return n, err
}

// closing is a body that frees its request's context.
type closing struct {
	io.ReadCloser
	cancel func()
}

// Close closes the body.
func (c closing) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// close ends the connection: the session on the server, if it answers, and all that is still open.
func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close() // what the server says to that does not matter
	}
	w.base.CloseIdleConnections()
}

// traceKey finds a call's trace in the context of its request.
type traceKey struct{}

// trace is what the connection saw of a call.
type trace struct {
	sent     atomic.Bool  // it may have reached the server
	status   atomic.Int32 // of the answer; 0 = none
	answered atomic.Bool  // the body under a status of failure is an error that answers this very call
}
