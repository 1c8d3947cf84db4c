package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
)

// TestHostileRequests: what is forged, foreign or endless is refused, and others are served all the while.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	p, ann, bob, _ := newTrio(t)
	t.Run("no token, a wrong one, two", func(t *testing.T) {
		for _, header := range [][]string{
			nil, {"Bearer wrong-token-0123456789"}, {"Basic " + annsToken}, {"Bearer"},
			{"Bearer " + annsToken, "Bearer " + bobsToken},
		} {
			s := newShell(t, p.at, "")
			s.header["Authorization"] = header
			got := s.send(request("r", "s1", "hello"))
			if got.Status != http.StatusUnauthorized || got.Header.Get("WWW-Authenticate") == "" ||
				got.Answer.RequestID != nil {
				t.Errorf("%q: %d %s", header, got.Status, got.Raw)
			}
		}
	})
	t.Run("a page of another site", func(t *testing.T) {
		for _, header := range []http.Header{
			{"Origin": {"https://evil.example"}}, {"Origin": {"null"}}, {"Sec-Fetch-Site": {"cross-site"}},
		} {
			s := newShell(t, p.at, annsToken)
			s.header = header
			s.refused(s.send(request("r", "s1", "hello")), http.StatusForbidden, "forbidden")
		}
	})
	t.Run("other content", func(t *testing.T) {
		for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "", "application/json5"} {
			s := newShell(t, p.at, annsToken)
			s.header.Set("Content-Type", kind)
			s.refused(s.send(request("r", "s1", "hello")), http.StatusUnsupportedMediaType, "unsupported_media_type")
		}
	})
	t.Run("a body of 100 MB", func(t *testing.T) {
		for _, announced := range []bool{true, false} {
			s := newShell(t, p.at, annsToken)
			body := io.LimitReader(endless{}, 100<<20)
			if announced {
				body = strings.NewReader(strings.Repeat("a", 100<<20))
			}
			// The connection may be cut before the answer is read: it must not be served, whatever arrives.
			if got, err := s.try(http.MethodPost, body); err == nil && got.Status != http.StatusRequestEntityTooLarge {
				t.Errorf("announced %v: %d %s", announced, got.Status, got.Raw)
			}
		}
	})
	t.Run("slow ones", func(t *testing.T) {
		var open []net.Conn
		for n := range 200 {
			c, err := net.Dial("tcp", strings.TrimPrefix(p.at, "http://"))
			noErr(t, err)
			open = append(open, c)
			token := "" // most have none
			if n%10 == 0 {
				token = "Authorization: Bearer " + bobsToken + "\r\n"
			}
			_, _ = fmt.Fprintf(c, "POST /v1/openharness HTTP/1.1\r\nHost: x\r\nContent-Type: "+
				"application/json\r\n%sContent-Length: 1000\r\n\r\n{", token)
		}
		for n := range 5 {
			start := time.Now()
			ann.must(ann.send(request(fmt.Sprint("slow", n), "s1", "hello")))
			if took := time.Since(start); took > soon {
				t.Errorf("somebody else waited %s", took)
			}
		}
		for _, c := range open {
			c.Close()
		}
	})
	t.Run("a flood", func(t *testing.T) {
		var all sync.WaitGroup
		var mu sync.Mutex
		codes := map[int]int{}
		for n := range 600 {
			all.Go(func() {
				s := newShell(t, p.at, bobsToken)
				s.client = bob.client
				s.header.Set("Prefer", "wait=0")
				got := s.send(request(fmt.Sprint("flood", n), fmt.Sprint("s", n), "hello"))
				mu.Lock()
				defer mu.Unlock()
				if codes[got.Status]++; got.Status == http.StatusTooManyRequests &&
					(got.Header.Get("Retry-After") == "" || !got.Answer.Response.Error.Retryable) {
					t.Errorf("refused without saying until when: %s", got.Raw)
				}
			})
		}
		ann.must(ann.send(request("beside", "s1", "hello")))
		all.Wait()
		if codes[http.StatusTooManyRequests] == 0 || codes[http.StatusOK] == 0 ||
			codes[http.StatusOK]+codes[http.StatusTooManyRequests] != 600 {
			t.Errorf("the flood was answered with %v", codes)
		}
	})
	for _, secret := range []string{annsToken, bobsToken, evesToken} {
		if strings.Contains(p.app.out.String(), secret) {
			t.Error("the log has a token")
		}
	}
	p.app.kill()
}

// endless is a body that does not end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}

// TestOnlyThisMachineWithoutTokens: a tunnel or proxy for a platform's webhooks does not publish the chat.
func TestOnlyThisMachineWithoutTokens(t *testing.T) {
	t.Parallel()
	p := newServeProcess(t, sqliteFile, "GATEHOUSE_AGENT=demo")
	p.open()
	for name, value := range map[string]string{
		"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9", "Cf-Connecting-Ip": "203.0.113.9",
		"Via": "1.1 proxy",
	} {
		s := newShell(t, p.at, "")
		s.header.Set(name, value)
		if got := s.refused(s.send(request("r", "s1", "hello")), http.StatusForbidden,
			"forbidden"); !strings.Contains(string(got.Raw), "GATEHOUSE_TOKENS") {
			t.Errorf("it does not say what to do: %s", got.Raw)
		}
	}
	rebound, err := http.NewRequest(http.MethodPost, p.at+"/v1/openharness", strings.NewReader(`{}`))
	noErr(t, err)
	rebound.Host = "evil.example"
	rebound.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(rebound)
	noErr(t, err)
	if answer.Body.Close(); answer.StatusCode != http.StatusForbidden {
		t.Errorf("another Host was answered %d", answer.StatusCode)
	}
	s := newShell(t, p.at, "")
	if card := s.must(s.send(request("r1", "s1", "note add milk"))).card(); card.choice("approve").Token == "" {
		t.Error("the local person may not approve")
	}
	p.app.kill()
}

// TestWebhooksWithoutTokens: others are meant to reach the address of webhooks, so gatehouse warns that only headers
// keep them from the chat.
func TestWebhooksWithoutTokens(t *testing.T) {
	t.Parallel()
	fake := slacktest.Start(t, slacktest.Options{})
	for _, tokens := range []string{"", "ann=" + annsToken} {
		p := newServeProcess(t, sqliteFile, "SLACK_API_URL="+fake.APIURL(), "SLACK_BOT_TOKEN="+fake.BotToken(),
			"SLACK_SIGNING_SECRET="+fake.SigningSecret(), "GATEHOUSE_TOKENS="+tokens)
		p.open()
		if warned := strings.Contains(p.app.out.String(), "GATEHOUSE_TOKENS is not set"); warned != (tokens == "") {
			t.Errorf("with the tokens %q it logs %s", tokens, p.app.out.String())
		}
		p.app.kill()
	}
}
