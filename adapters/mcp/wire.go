package mcp

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp/internal/gate"
	"gatehouse/adapters/mcp/internal/login"
)

// answerTimeout is how long a server may take to accept a message that is no call.
const answerTimeout = 30 * time.Second

// dialTimeout is how long a connection to it may take.
const dialTimeout = 10 * time.Second

// wire is the HTTP side of a server: it adds the entry's headers, follows no redirect, and lets in what the gate
// admits.
type wire struct {
	base     *http.Transport
	endpoint string
	headers  map[string]string
	gate     *gate.Gate
	login    *login.Source
	conn     sdk.Connection
}

func newWire(s Server, g *gate.Gate, l *login.Source) *wire {
	base := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: dialTimeout,
		MaxResponseHeaderBytes: 64 << 10,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		// a call that finds no server is then surely not sent; an idle connection may be dead without a sign
		DisableKeepAlives: true,
	}
	return &wire{base: base, endpoint: s.URL, headers: s.Headers, gate: g, login: l}
}

// reconnects is how often the SDK may open a stream again that ended; it is checked otherwise whether the server lives,
// and a proxy may well end an idle stream each minute.
const reconnects = 1 << 20

// Connect makes the SDK's connection.
func (w *wire) Connect(ctx context.Context) (sdk.Connection, error) {
	client := &http.Client{Transport: w, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	t := &sdk.StreamableClientTransport{
		Endpoint: w.endpoint, HTTPClient: client, MaxRetries: reconnects, MaxEventSize: gate.MaxMessage + 1024,
	}
	conn, err := t.Connect(ctx)
	w.conn = conn
	return conn, err
}

// RoundTrip sends a request. The redirect of a message is an error: it would be sent twice, to two addresses. A server
// that redirects who asks for its stream of events has none.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := req.Context(), func() {}
	switch _, limited := ctx.Deadline(); {
	case limited || req.Method == http.MethodGet:
	case req.Header.Get("Mcp-Method") == "subscriptions/listen": // its answer is a stream of events that does not end
		ctx, cancel = context.WithCancel(ctx)
		defer time.AfterFunc(answerTimeout, cancel).Stop()
	default:
		ctx, cancel = context.WithTimeout(ctx, answerTimeout)
	}
	req = req.Clone(ctx)
	for name, value := range w.headers {
		req.Header.Set(name, value)
	}
	if id, ok := ctx.Value(taskKey{}).(string); ok {
		req.Header.Set("Mcp-Name", id) // by which a balancer finds the task
	}
	resp, err := w.login.RoundTrip(w.base, req)
	if err != nil {
		cancel()
		return nil, err
	}
	t, traced := ctx.Value(traceKey{}).(*trace)
	message := req.Method == http.MethodPost
	if traced = traced && message; traced {
		t.status.Store(int32(resp.StatusCode))
	}
	if to, err := resp.Location(); err == nil && message && isRedirect(resp.StatusCode) {
		_ = resp.Body.Close()
		cancel()
		return nil, redirected{from: req.URL, to: to}
	}
	body := resp.Body
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream":
		body = gate.Events(body, w.gate)
	case resp.StatusCode < http.StatusMultipleChoices:
		body = gate.Body(body, w.gate)
	default:
		if body = gate.Limited(body, w.gate); traced {
			text, _ := io.ReadAll(body) // what came before a fault is all there is
			t.answered.Store(answers(req, text))
			body = struct {
				io.Reader
				io.Closer
			}{bytes.NewReader(text), body}
		}
	}
	resp.Body = closing{body, cancel}
	return resp, nil
}

// answers reports whether the body of a refused request is an error that answers this very request.
func answers(req *http.Request, text []byte) bool {
	if req.GetBody == nil {
		return false
	}
	sent, err := req.GetBody()
	if err != nil {
		return false
	}
	asked, err := io.ReadAll(sent)
	return err == nil && gate.Answers(asked, text)
}

func isRedirect(status int) bool {
	return status >= http.StatusMultipleChoices && status < http.StatusBadRequest
}

// redirected is the error of a request that the server wants sent to another address.
type redirected struct{ from, to *url.URL }

// Error names the address without what may be secret in it.
func (r redirected) Error() string {
	address := r.to.Host + r.to.EscapedPath()
	if r.to.Scheme != r.from.Scheme {
		address = r.to.Scheme + "://" + address
	}
	return "it redirects to " + address + ", and redirects are not followed; correct the URL of this server in mcp.json"
}

// closing is a body that frees its request's context.
type closing struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (c closing) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// last tells nothing: what is known was the answer of a call.
func (w *wire) last() string { return "" }

// close ends the connection: the session on the server, if it answers, and all that is still open.
func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close() // what the server says to that does not matter
	}
	w.base.CloseIdleConnections()
}

// traceKey finds a call's trace in the context of its request.
type traceKey struct{}

// trace is what the connection saw of a call, or of the handshake.
type trace struct {
	sent     atomic.Bool  // it may have reached the server
	status   atomic.Int32 // of the answer; 0 = none
	answered atomic.Bool  // the body under a status of failure is an error that answers this very request
}

// foreign is the status of an answer that is not the server's own to the request; 0 if it is its own, or there is none.
func (t *trace) foreign() int {
	if status := int(t.status.Load()); status >= http.StatusMultipleChoices && !t.answered.Load() {
		return status
	}
	return 0
}
