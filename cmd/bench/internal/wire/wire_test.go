package wire_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gatehouse/cmd/bench/internal/wire"
)

// TestClientsOfOthersAreServed sends what net/http and bots in other languages send: lengths and chunks, kept alive.
func TestClientsOfOthersAreServed(t *testing.T) {
	s, err := wire.Serve(func(r *http.Request, body []byte) []byte {
		return wire.Answer(http.StatusOK, fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body), "X-Also: this")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		for _, length := range []int64{5, -1} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.Address()+"/api/call",
				strings.NewReader("hello"))
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = length
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text := make([]byte, 100)
			n, _ := response.Body.Read(text)
			response.Body.Close()
			if got := string(text[:n]); got != "POST /api/call hello" || response.Header.Get("X-Also") != "this" {
				t.Errorf("%q %v", got, response.Header)
			}
		}
	}
}

func TestClientConnectsAgainAfterAnError(t *testing.T) {
	answer := http.StatusTeapot
	s, err := wire.Serve(func(_ *http.Request, body []byte) []byte { return wire.Answer(answer, string(body)) })
	if err != nil {
		t.Fatal(err)
	}
	c := &wire.Client{Address: s.Address()}
	defer c.Close()
	request := wire.AppendRequest(nil, s.Address(), "/", "X-A: b\r\n", []byte("hello"))
	for range 2 {
		if status, err := c.Post(request); err != nil || status != answer {
			t.Fatalf("%d %v", status, err)
		}
	}
	s.Close()
	if status, err := c.Post(request); err == nil {
		t.Fatalf("a closed server answers %d", status)
	}
	if s, err = wire.Serve(func(*http.Request, []byte) []byte { return wire.Answer(http.StatusOK, "") }); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c.Address = s.Address()
	if status, err := c.Post(request); err != nil || status != http.StatusOK {
		t.Errorf("%d %v", status, err)
	}
}
