package outbound

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"gatehouse/core"
)

var sockets = Socket{Title: "Slack", URLKey: "SLACK_API_URL", Hello: time.Second, Limit: 1 << 10}

// says fails the test unless an error says each of the words, and is one that another attempt may not have.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	var f *SocketFault
	if core.CategoryOf(err) != core.DeliveryLater || !errors.As(err, &f) || f.What == "" || f.Mend == "" {
		t.Fatalf("got %#v", err)
	}
	for _, word := range words {
		if !strings.Contains(core.MessageOf(err), word) {
			t.Errorf("it does not say %q: %v", word, err)
		}
	}
	if strings.Contains(err.Error(), "ticket") {
		t.Errorf("it shows the address: %v", err)
	}
}

// TestWhatKeepsAWebsocketFromOpeningIsSaid has the faults below and above HTTP; the platforms' tests have the others.
func TestWhatKeepsAWebsocketFromOpeningIsSaid(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	say := func(do func(*websocket.Conn)) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			upgrader := websocket.Upgrader{}
			conn, err := upgrader.Upgrade(w, r, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			do(conn)
		}))
	}
	silent := say(func(c *websocket.Conn) { _, _, _ = c.ReadMessage() })
	defer silent.Close()
	closing := say(func(c *websocket.Conn) {
		_ = c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1013, ""))
	})
	defer closing.Close()
	breaking := say(func(c *websocket.Conn) {})
	defer breaking.Close()
	other := say(func(c *websocket.Conn) { _ = c.WriteMessage(websocket.TextMessage, []byte("hello")) })
	defer other.Close()
	for name, c := range map[string]struct {
		address string
		words   []string
	}{
		"unknown issuer": {
			"wss" + strings.TrimPrefix(secure.URL, "https"), []string{"certificate", "issuer", "SSL_CERT_FILE"},
		},
		"no TLS":         {"wss" + strings.TrimPrefix(plain.URL, "http"), []string{"does not answer with TLS"}},
		"no websocket":   {"ws" + strings.TrimPrefix(plain.URL, "http"), []string{"(404)", "SLACK_API_URL"}},
		"silent":         {"ws" + strings.TrimPrefix(silent.URL, "http"), []string{"nothing comes over it"}},
		"closed":         {"ws" + strings.TrimPrefix(closing.URL, "http"), []string{"as soon as it opens (1013)"}},
		"broken":         {"ws" + strings.TrimPrefix(breaking.URL, "http"), []string{"breaks as soon as it opens"}},
		"another server": {"ws" + strings.TrimPrefix(other.URL, "http"), []string{"its first frame is not Slack's"}},
		"no address":     {"::", []string{"is not that of a websocket"}},
	} {
		t.Run(name, func(t *testing.T) {
			var hello struct{ Type string }
			conn, err := sockets.Dial(t.Context(), c.address+"/?ticket=1", &hello)
			if err == nil {
				conn.Close()
			}
			says(t, err, c.words...)
		})
	}
}

func TestAProxyThatKeepsAWebsocketFromOpeningIsNamed(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for _, c := range []struct {
		err   error
		words []string
	}{
		{errors.New("Forbidden"), []string{"through the proxy proxy.example:3128 (Forbidden)", "HTTPS_PROXY"}},
		{refused, []string{"the proxy proxy.example:3128 can't be", "HTTPS_PROXY"}},
		{&net.DNSError{Name: "proxy.example", Err: "no such host"}, []string{"the name of the proxy", "HTTPS_PROXY"}},
	} {
		what, mend := sockets.unreached("wss.example", "proxy.example:3128", c.err)
		says(t, sockets.fault("wss.example", c.err, what, mend), c.words...)
	}
}

// What has arrived before a deadline is read, although the deadline has passed: the process may have been stopped.
func TestWhatHasArrivedIsReadAfterTheDeadline(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := dialWaking(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	other, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Write([]byte("click")); err != nil {
		t.Fatal(err)
	}
	other.Close()
	_ = conn.SetReadDeadline(time.Now().Add(-time.Minute))
	got := make([]byte, 10)
	if n, err := conn.Read(got); err != nil || string(got[:n]) != "click" {
		t.Errorf("read %q, %v", got[:n], err)
	}
	quiet, err := dialWaking(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer quiet.Close()
	_ = quiet.SetReadDeadline(time.Now())
	if _, err := quiet.Read(got); !isTimeout(err) {
		t.Errorf("a silent connection gave %v", err)
	}
}
