package access

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
)

// id names a login, where its cookie must not be shown.
func (l login) id() string {
	digest := sha256.Sum256([]byte(l.value))
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

// LoginOf names the login of a request; "" if it has none. It is no secret.
func (g *Gate) LoginOf(r *http.Request) string {
	l, _ := g.login(r)
	if l.who == "" {
		return ""
	}
	return l.id()[:8]
}

// endedName is the name of the value that says that a login was ended. It is kept until the login would end anyway.
func (l login) endedName() string { return "logout/" + l.id() }

// end ends a login, on every replica: requests at once, streams of other replicas when they ask who reads them.
func (g *Gate) end(ctx context.Context, l login) (err error) {
	if g.values != nil {
		err = g.values.PutFor(ctx, l.endedName(), "ended", l.end.Sub(g.now()))
	}
	g.streams.end(l.id())
	return err
}

// ended reports whether a log-out has ended a login. A store that does not answer ends none.
func (g *Gate) ended(ctx context.Context, l login) bool {
	if g.values == nil {
		return false
	}
	value, err := g.values.Get(ctx, l.endedName())
	return err == nil && value != ""
}

// Follow returns a channel that is closed when a log-out ends the login of a request, in this process, or when the
// token that it or its login has is no longer one; leave must be called.
func (g *Gate) Follow(r *http.Request) (ended <-chan struct{}, leave func()) {
	l, _ := g.login(r)
	by := g.tokenOf(r, l)
	ended, leave = g.streams.add(l.id(), by)
	if !g.holds(by) { // since the request was let in
		g.streams.endUnless(g.holds)
	}
	return ended, leave
}

// tokenOf returns the token that a request has, or that its login was made with; zero: none.
func (g *Gate) tokenOf(r *http.Request, l login) (by Token) {
	if token, sent, err := bearer(r); err == nil && sent {
		by, _ = g.admitted.Load().holder(token)
		return by
	}
	for _, t := range g.admitted.Load().tokens {
		if t.Name == l.who {
			by = t
		}
	}
	if again, _ := g.login(r); again.who != l.who { // by the tokens of now, it is no login
		return Token{}
	}
	return by
}

// streams are what lasts as long as a login, by the logins' ids; each with the token by which it was let in.
type streams struct {
	mu  sync.Mutex
	all map[string]map[chan struct{}]Token
}

func (s *streams) add(id string, by Token) (ended <-chan struct{}, leave func()) {
	one := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]map[chan struct{}]Token{}
	}
	if s.all[id] == nil {
		s.all[id] = map[chan struct{}]Token{}
	}
	s.all[id][one] = by
	return one, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.all[id], one); len(s.all[id]) == 0 {
			delete(s.all, id)
		}
	}
}

func (s *streams) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.all[id] {
		close(one)
	}
	delete(s.all, id)
}

// endUnless ends the streams whose tokens are not held any more.
func (s *streams) endUnless(holds func(Token) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, all := range s.all {
		for one, by := range all {
			if !holds(by) {
				close(one)
				delete(all, one)
			}
		}
		if len(all) == 0 {
			delete(s.all, id)
		}
	}
}
