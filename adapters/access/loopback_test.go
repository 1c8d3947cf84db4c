package access_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/adapters/access"
)

func TestTrueLoopback(t *testing.T) {
	g := newGate(t, newClock(), "")
	if !g.Open() {
		t.Error("it has no tokens and is not open")
	}
	for _, tc := range []struct{ peer, host string }{
		{"127.0.0.1:1", "localhost:8080"}, {"127.0.0.1:1", "LocalHost"}, {"127.8.9.1:1", "127.0.0.1:8080"},
		{"[::1]:1", "[::1]:8080"}, {"[::1]:1", "[::1]"},
		{"[::ffff:127.0.0.1]:1", "127.1.2.3:1"}, {"[::1]:1", "[0:0:0:0:0:0:0:1]:65535"},
	} {
		r := request("GET", "Host: "+tc.host, "User-Agent: curl", "Authorization: Bearer anything", "X-Request-Id: 1",
			"Traceparent: 00-1-2-01", "X-Correlation-Id: 2")
		r.RemoteAddr = tc.peer
		got, err := g.Identify(r)
		if err != nil || got.Name != "local" || got.How != access.Loopback || !got.Actor.Local ||
			got.Actor.ID != "openharness:local" || got.Actor.Name != "local" {
			t.Errorf("%+v gives %+v, %v", tc, got, err)
		}
	}
}

func TestOtherMachinesAreRefused(t *testing.T) {
	g := newGate(t, newClock(), "")
	for _, peer := range []string{
		"10.0.0.1:1", "128.0.0.1:1", "[fe80::1%lo]:1", "[::1%lo]:1", "[::]:1", "0.0.0.0:1", "[::ffff:10.0.0.1]:1",
		"[2001:db8::1]:1", "127.0.0.1", "localhost:1", "@", "",
	} {
		r := request("GET")
		r.RemoteAddr = peer
		_, err := g.Identify(r)
		if why := refused(t, peer, err, 403).Message; !strings.Contains(why, "GATEHOUSE_TOKENS") {
			t.Errorf("%s: %s", peer, why)
		}
	}
}

// TestRebinding: a page whose name was made to mean this machine still sends its own name.
func TestRebinding(t *testing.T) {
	g := newGate(t, newClock(), "")
	for _, host := range []string{
		"", "evil.com", "evil.com:8080", "localhost.evil.com", "localhost.evil.com:8080", "127.0.0.1.nip.io",
		"127.0.0.1.nip.io:8080", "127-0-0-1.nip.io", "evil.localhost", "evil.localhost:8080",
		"localhost.", "localhost.:8080", "127.0.0.1.", "127.0.0.1.:8080", "localhost.localdomain", "localhostx",
		"xlocalhost", "localhost:", "localhost:x", "localhost:0", "localhost:99999", "localhost:80:80",
		"localhost:80@evil.com", "evil.com@localhost", "localhost#evil.com", "localhost/evil.com", "localhost evil.com",
		" localhost", "localhost,evil.com",
		"127.1", "127.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.01", "127.0.0.256", "0.0.0.0", "0",
		"10.0.0.1", "128.0.0.1", "[::]", "::1", "[::1", "::1]", "[::1].evil.com", "[::1]evil:80", "[::1%25lo]",
		"[::1%lo]:80", "[::2]", "[::ffff:127.0.0.1]", "[127.0.0.1]", "[localhost]", "[]", "[]:80", ":8080", "ⓛocalhost",
		"lo\u200bcalhost", "localho\u017ft",
	} {
		_, err := g.Identify(request("GET", "Host: "+host))
		if why := refused(t, host, err, 403).Message; !strings.Contains(why, "GATEHOUSE_TOKENS") ||
			host != "" && strings.Contains(why, "evil") {
			t.Errorf("%s: %s", host, why)
		}
	}
}

// TestForwardedRequests: tunnels and proxies connect from this machine, and some rewrite the Host.
func TestForwardedRequests(t *testing.T) {
	g := newGate(t, newClock(), "")
	for _, header := range []string{
		"Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-For: ", "x-forwarded-for: 127.0.0.1",
		"X-FORWARDED-FOR: ::1", "X_Forwarded_For: 1.2.3.4", "X-Forwarded-Host: localhost", "X-Forwarded-Proto: http",
		"X-Forwarded-Server: a", "X-Forwarded-Anything: a", "X-Real-Ip: 127.0.0.1", "x-rEAL-iP: 1.2.3.4",
		"Via: 1.1 proxy", "VIA: 1.1 proxy", "Cf-Connecting-Ip: 1.2.3.4", "CF-Ray: 1", "Cf-Visitor: 1",
		"Cdn-Loop: cloudflare",
		"X-Original-Host: localhost", "X-Original-Forwarded-For: a", "True-Client-Ip: 1.2.3.4", "X-Client-Ip: 1.2.3.4",
		"X-Cluster-Client-Ip: 1.2.3.4", "Ngrok-Skip-Browser-Warning: 1", "Ngrok-Auth-User-Email: a",
		"X-Envoy-External-Address: a",
		"Tailscale-User-Login: a", "Tailscale-Headers-Info: a", "Fly-Client-Ip: a", "Fly-Forwarded-Port: 1",
		"X-Amzn-Trace-Id: a", "X-Azure-Clientip: a", "X-Arr-Ssl: a", "Fastly-Client-Ip: a", "X-Appengine-User-Ip: a",
		"X-Goog-Iap-Jwt-Assertion: a",
		"Client-Ip: 1.2.3.4", "Front-End-Https: on", "Cloudfront-Viewer-Address: a",
	} {
		_, err := g.Identify(request("GET", header))
		if why := refused(t, header, err, 403).Message; !strings.Contains(why, "GATEHOUSE_TOKENS") ||
			!strings.Contains(why, "proxy or a tunnel") {
			t.Errorf("%s: %s", header, why)
		}
	}
}

// TestRequestsAsTheyArrive: what the HTTP server makes of a request's text.
func TestRequestsAsTheyArrive(t *testing.T) {
	g := newGate(t, newClock(), "")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := g.Identify(r); err != nil {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	defer server.Close()
	for text, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n":                                  "200",
		"GET / HTTP/1.0\r\n\r\n":                                                          "403",
		"GET / HTTP/1.0\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n":             "403", // nginx
		"GET / HTTP/1.1\r\nHost:\r\n\r\n":                                                 "403",
		"GET / HTTP/1.1\r\nHost: evil.com\r\n\r\n":                                        "403",
		"GET http://evil.com/ HTTP/1.1\r\nHost: localhost\r\n\r\n":                        "403",
		"GET / HTTP/1.1\r\nHost: localhost\r\nx-fORWARDED-foR: 127.0.0.1\r\n\r\n":         "403",
		"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: x\r\ncf-connecting-ip:\r\n\r\n": "403",
		// the server's own refusal
		"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n": "400",
	} {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(line, " "+want+" ") {
			t.Errorf("%q is answered %q, %v; want %s", text, line, err, want)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
