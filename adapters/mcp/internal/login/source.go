package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"gatehouse/core/mask"
)

const (
	early = 30 * time.Second // before its end a token is renewed
	// that a renewal may take, the wait for another process included; shorter than the lease
	renewTime = 40 * time.Second
	poll      = 2 * time.Second
)

// Source gives the token of one server to its requests.
type Source struct {
	server Server
	store  Store
	client *http.Client
	log    *slog.Logger
	owner  string // of the lease
	origin string // of the server

	renewing sync.Mutex // one renewal at a time in this process

	mu     sync.Mutex
	text   string // what the store had last
	record Record // in it
	fault  error  // why it can't be used
	read   bool
	worked string // the access token that the server took last
}

// NewSource makes a server's source. A nil Source adds nothing to requests.
func NewSource(server Server, store Store, log *slog.Logger) *Source {
	return &Source{
		server: server, store: store, client: newClient(), log: log, owner: rand.Text(), origin: originOf(server.URL),
	}
}

// load reads the login. While the store is away, the one that was read last counts.
func (s *Source) load(ctx context.Context) (Record, error) {
	text, err := s.store.Get(ctx, nameOf(s.server.Name))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil && !s.read:
		return Record{}, fmt.Errorf("its login can't be read: %w", err)
	case err != nil, s.read && text == s.text:
		return s.record, s.fault
	}
	s.text, s.read, s.record, s.fault = text, true, Record{}, nil
	if text == "" {
		return Record{}, nil
	}
	r, _, err := unseal(keysOf(s.store.Signer()), s.server.Name, text)
	switch {
	case err != nil:
		s.fault = Needed{s.server.Name, err.Error()}
	case r.URL != s.server.URL:
		s.fault = Needed{s.server.Name, "its login is for another URL than its entry has now"}
	case r.Token.AccessToken == "":
		s.fault = Needed{s.server.Name, r.Refused}
	default:
		s.record = r
	}
	return s.record, s.fault
}

// keep makes a login the one that counts here. text is what is stored, which is the one before if it could not be
// stored.
func (s *Source) keep(text string, r Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != "" {
		s.text = text
	}
	s.record = r
}

// Secrets are what nobody may read.
func (s *Source) Secrets() (secrets []string) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range []string{
		s.record.Token.AccessToken, s.record.Token.RefreshToken, s.record.ClientSecret, s.server.Client.Secret,
	} {
		if secret != "" {
			secrets = append(secrets, secret)
		}
	}
	return secrets
}

// current gives the login for a request, renewed if it is about to end.
func (s *Source) current(ctx context.Context) (Record, error) {
	r, err := s.load(ctx)
	if err != nil || r.Token.RefreshToken == "" || r.Token.Expiry.IsZero() || time.Until(r.Token.Expiry) > early {
		return r, err
	}
	next, err := s.renew(ctx, r)
	if err != nil && !errors.As(err, new(Needed)) && time.Now().Before(r.Token.Expiry) {
		return r, nil
	}
	return next, err
}

// renew gives the login after old. Another process, or another request, may have renewed it meanwhile. A renewal that
// began goes on when the request ends: its refresh token may be used up.
func (s *Source) renew(ctx context.Context, old Record) (next Record, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewTime)
	defer cancel()
	s.renewing.Lock()
	defer s.renewing.Unlock()
	err = hold(ctx, s.store, s.server.Name, s.owner, func() error {
		if next, err = s.load(ctx); err != nil || next.Token.AccessToken != old.Token.AccessToken {
			return err
		}
		next, err = s.refresh(ctx, old)
		return err
	})
	if err != nil && !errors.As(err, new(Needed)) {
		err = fmt.Errorf("its login can't be renewed at the moment: %w", err)
	}
	return next, err
}

// refresh uses the refresh token.
func (s *Source) refresh(ctx context.Context, r Record) (Record, error) {
	cfg := oauth2.Config{
		ClientID: r.ClientID, ClientSecret: r.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: r.TokenURL, AuthStyle: r.Style},
	}
	if r.ClientID == s.server.Client.ID {
		cfg.ClientSecret = s.server.Client.Secret
	}
	// x/oauth2's own refresh names no resource
	token, err := cfg.Exchange(context.WithValue(ctx, oauth2.HTTPClient, s.client), "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"),
		oauth2.SetAuthURLParam("refresh_token", r.Token.RefreshToken),
		oauth2.SetAuthURLParam("resource", r.Resource))
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.ErrorCode == "invalid_grant" {
		why := mask.Without(tokenError(err).Error(), s.Secrets())
		r = Record{URL: r.URL, Refused: "its authorization server ended the login: " + why}
		s.log.Warn("the login was ended by its authorization server, and its tokens are dropped; run gatehouse mcp "+
			"login "+s.server.Name, "err", why)
		if _, err := save(ctx, s.store, s.server.Name, r); err != nil {
			return Record{}, err
		}
		return Record{}, Needed{s.server.Name, r.Refused}
	}
	switch {
	case refused != nil && refused.ErrorCode == "invalid_client":
		// the client was changed in the entry, or is gone; the tokens are not
		return Record{}, Needed{s.server.Name, "its login can't be renewed: " + tokenError(err).Error()}
	case err != nil:
		return Record{}, tokenError(err)
	}
	if token.RefreshToken == "" {
		token.RefreshToken = r.Token.RefreshToken
	}
	r.Token = *token
	text, err := save(ctx, s.store, s.server.Name, r)
	if err != nil {
		s.log.Warn(
			"the renewed login to the MCP server could not be stored; it is used here and lost with this process",
			"err", err)
		text = ""
	}
	s.keep(text, r)
	return r, nil
}

// Reseal encrypts the login under the newest key, if another one encrypted it: one of before a rotation, or that of the
// database.
func (s *Source) Reseal(ctx context.Context) error {
	if s == nil {
		return nil
	}
	signer := s.store.Signer()
	own, err := s.store.DatabaseKey(ctx)
	if err == nil && own != "" {
		signer, err = signer.With(own)
	}
	if err != nil {
		return err
	}
	old := func() (r Record, is bool, err error) {
		text, err := s.store.Get(ctx, nameOf(s.server.Name))
		if err != nil || text == "" {
			return r, false, err
		}
		r, key, err := unseal(keysOf(signer), s.server.Name, text)
		return r, err == nil && key > 0, nil // a login that nothing opens is reported when it is used
	}
	if _, is, err := old(); err != nil || !is {
		return err
	}
	return hold(ctx, s.store, s.server.Name, s.owner, func() error {
		r, is, err := old()
		if err == nil && is {
			_, err = save(ctx, s.store, s.server.Name, r)
		}
		return err
	})
}

// Await waits until another login is stored than the last request had, or ctx ends.
func (s *Source) Await(ctx context.Context) {
	s.mu.Lock()
	seen := s.text
	s.mu.Unlock()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if text, err := s.store.Get(ctx, nameOf(s.server.Name)); err == nil && text != seen {
				return
			}
		}
	}
}
