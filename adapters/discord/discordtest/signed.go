package discordtest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"gatehouse/adapters/internal/fakeserver"
)

// post sends an interaction to the app's URL and processes the response as its first answer.
func (s *Server) post(i *Interaction, url string) {
	a := s.postOnce(i.body, i.how, url)
	if a.Status == http.StatusOK {
		s.described.CompareResponse(a.Answer)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i.attempt = &a
	s.changed()
	switch {
	case i.Kind == Ping:
		var pong struct{ Type CallbackKind }
		if a.Status == http.StatusOK && json.Unmarshal(a.Answer, &pong) == nil && pong.Type == Pong {
			i.answered, i.answeredAt = Pong, s.o.Now()
		}
		i.fail(fmt.Sprintf("HTTP %d %s", a.Status, a.Err))
	case a.Err != "":
		i.giveUp(a.Err)
	case a.Status == http.StatusAccepted || a.Status == http.StatusNoContent:
		// the answer comes through the callback route
	case a.Status != http.StatusOK:
		i.giveUp(fmt.Sprintf("HTTP %d", a.Status))
	default:
		q := &request{s: s, parts: parts{fields: object{}}}
		if json.Unmarshal(a.Answer, &q.fields) != nil {
			i.giveUp("the answer is no JSON")
			return
		}
		if f := s.answer(i, q); f != nil {
			i.giveUp("the answer was refused: " + string(fakeserver.JSON(f.Body())))
		}
	}
}

// giveUp fails an interaction that was not answered by the callback meanwhile.
func (i *Interaction) giveUp(why string) {
	if i.answered == 0 {
		i.fail(why)
	}
}

// postOnce makes one signed request.
func (s *Server) postOnce(body []byte, h actionOptions, url string) (a Attempt) {
	a.URL = url
	began := time.Now()
	defer func() { a.Took = time.Since(began) }()
	if h.body != nil {
		body = h.body
	}
	at := s.o.Now()
	if !h.signedAt.IsZero() {
		at = h.signedAt
	}
	when := strconv.FormatInt(at.Unix(), 10)
	if h.timestamp != nil {
		when = *h.timestamp
	}
	key := s.key
	if h.key != nil {
		key = h.key
	}
	signature := hex.EncodeToString(ed25519.Sign(key, append([]byte(when), body...)))
	if h.tampered {
		body = append(bytes.Clone(body), ' ')
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.o.AnswerWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, cmp.Or(h.method, http.MethodPost), url, bytes.NewReader(body))
	if err != nil {
		a.Err = err.Error()
		return a
	}
	r.Header.Set("Content-Type", cmp.Or(h.contentType, "application/json"))
	r.Header.Set("User-Agent", "Discord-Interactions/1.0 (+https://discord.com)")
	if !h.unsigned {
		r.Header.Set("X-Signature-Ed25519", signature)
		r.Header.Set("X-Signature-Timestamp", when)
	}
	for _, name := range h.without {
		r.Header.Del(name)
	}
	answer, err := s.out.Do(r)
	if err != nil {
		a.Err = err.Error()
		return a
	}
	defer func() { _ = answer.Body.Close() }()
	a.Status = answer.StatusCode
	if a.Answer, err = io.ReadAll(answer.Body); err != nil {
		a.Err = err.Error()
	}
	return a
}

// Pings sends a PING to the app's URL, signed as the options say.
func (s *Server) Pings(options ...ActionOption) *Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := actionOptions{}.with(options)
	if s.interactURL == "" && h.urlOnce == "" {
		s.fatal("there is no interactions URL to ping")
	}
	return s.interact(&Interaction{Kind: Ping}, nil, nil, h)
}

// CheckURL does what Discord does before it accepts an interactions URL: a PING that must be answered, and one with a
// bad signature that must be answered by 401.
func (s *Server) CheckURL(ctx context.Context) error {
	if err := s.Pings().Wait(ctx); err != nil {
		return fmt.Errorf("the ping: %w", err)
	}
	_, other, _ := ed25519.GenerateKey(nil)
	bad := s.Pings(SignedWith(other))
	_ = bad.Wait(ctx)
	if a := bad.State().Attempt; a == nil || a.Status != http.StatusUnauthorized {
		return fmt.Errorf("a bad signature was not answered by 401: %+v", a)
	}
	return nil
}
