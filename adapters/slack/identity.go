package slack

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"gatehouse/core"
)

// identity is who the bot is in its workspace. Its zero value: not known yet.
type identity struct {
	Team   string
	User   string // the bot's own user id
	Bot    string // its bot id
	Name   string
	URL    string
	Scopes map[string]bool // of its token, as Slack told with its last answer
}

func (s *Slack) whoami() identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.self
}

// can reports whether the token has the scope. Before Slack has told, it is taken to have what a manifest of ours asks for.
func (s *Slack) can(scope string) bool {
	scopes := s.whoami().Scopes
	return scopes == nil || scopes[scope]
}

// sawScopes reads the token's scopes off an answer.
func (s *Slack) sawScopes(path string, h http.Header) {
	told := h.Get("X-OAuth-Scopes")
	if told == "" || path == "apps.connections.open" { // that one is the app token's
		return
	}
	scopes := map[string]bool{}
	for _, scope := range strings.Split(told, ",") {
		scopes[strings.TrimSpace(scope)] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.self.Scopes = scopes
}

// Numbers of how often Slack is asked who the bot is, which also shows that it can be spoken to.
const (
	firstRetry    = time.Second
	maxRetry      = time.Minute
	identityCheck = time.Minute
)

// keepIdentity asks Slack who the bot is, until it is known and from time to time after. A token that Slack refuses from the start
// ends the platform; one that is taken away later does not, since events are still to be stored.
func (s *Slack) keepIdentity(ctx context.Context) error {
	trouble := core.NewErrorLog(s.Log, "asking Slack who the bot is")
	retry := firstRetry
	for ctx.Err() == nil {
		err := s.identify(ctx)
		if ctx.Err() != nil {
			return nil
		}
		trouble.Report(err)
		if core.CategoryOf(err) == core.ProviderAuthentication && s.whoami().Team == "" {
			return err
		}
		if err == nil {
			retry = firstRetry
			s.sleep(ctx, identityCheck)
			continue
		}
		s.sleep(ctx, max(s.jitter(retry), core.RetryAfterOf(err)))
		retry = min(2*retry, maxRetry)
	}
	return nil
}

func (s *Slack) jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.5 + s.Jitter()/2))
}

// identify asks once.
func (s *Slack) identify(ctx context.Context) error {
	me, err := s.api.AuthTestContext(ctx)
	if err := s.heard(err); err != nil {
		if ctx.Err() == nil {
			s.voice.met(err)
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.self.Team, s.self.User, s.self.Bot, s.self.Name, s.self.URL = me.TeamID, me.UserID, me.BotID, me.User, me.URL
	return nil
}

// voice knows whether Slack could be spoken to the last time.
type voice struct {
	mu   sync.Mutex
	said bool // ever
	err  error
}

func (v *voice) met(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said, v.err = v.said || err == nil, err
}

func (v *voice) state() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err == nil && !v.said {
		return core.Errorf(core.DeliveryLater, "Slack has not been reached yet.")
	}
	return v.err
}

// Health tells whether Slack is heard (with Socket Mode: whether a connection is alive) and could be spoken to the last time.
func (s *Slack) Health() (inbound, outbound error) {
	if s.Config.AppToken != "" {
		inbound = s.ears.state()
	}
	return inbound, s.voice.state()
}
