package login

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"gatehouse/storage"
)

// answers is a token endpoint that gives these answers, one after another: a status, or a token of the name.
func answers(t *testing.T, all ...any) (address string) {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("grant_type") != "refresh_token" || r.FormValue("resource") == "" || len(all) == 0 {
			t.Errorf("it was asked for %v", r.Form)
		}
		next := all[0]
		all = all[1:]
		w.Header().Set("Content-Type", "application/json")
		switch next := next.(type) {
		case int:
			w.WriteHeader(next)
			fmt.Fprint(w, "<html>")
		case error:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":%q}`, next)
		default:
			fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, next)
		}
	}))
	t.Cleanup(h.Close)
	return h.URL
}

// ended makes a source whose token has ended, for a server.
func ended(t *testing.T, tokens, server string) *Source {
	t.Helper()
	store, err := storage.Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "db"),
		storage.Options{NewID: func() string {
			return "id"
		}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	r := Record{
		URL: server, Resource: server, TokenURL: tokens, ClientID: "c", Style: oauth2.AuthStyleInParams,
		Token: oauth2.Token{AccessToken: "first", RefreshToken: "again", Expiry: time.Unix(1, 0)},
	}
	if _, err := save(t.Context(), store, "s", r); err != nil {
		t.Fatal(err)
	}
	return NewSource(Server{Name: "s", URL: server}, store, slog.New(slog.DiscardHandler))
}

func TestAFailureThatPassesIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := ended(t, answers(t, 503, "second"), "https://s.example/mcp")
	if _, err := s.current(t.Context()); err == nil || errors.As(err, new(Needed)) ||
		!strings.Contains(err.Error(), "at the moment: it answered HTTP status 503") {
		t.Errorf("%v", err)
	}
	r, err := s.current(t.Context())
	if err != nil || r.Token.AccessToken != "second" || r.Token.RefreshToken != "again" {
		t.Errorf("%+v, %v", r.Token, err)
	}
}

func TestAClientThatIsGoneLosesNoTokens(t *testing.T) {
	t.Parallel()
	s := ended(t, answers(t, errors.New("invalid_client"), "second"), "https://s.example/mcp")
	if _, err := s.current(t.Context()); !errors.As(err, new(Needed)) {
		t.Errorf("%v", err)
	}
	if r, err := s.current(t.Context()); err != nil || r.Token.AccessToken != "second" {
		t.Errorf("%+v, %v", r.Token, err)
	}
}

// TestATokenGoesToItsServerAlone: not to another origin, and not to the same server once its entry has another URL.
func TestATokenGoesToItsServerAlone(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	take := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get("Authorization") })
	own, other := httptest.NewServer(take), httptest.NewServer(take)
	t.Cleanup(own.Close)
	t.Cleanup(other.Close)
	s := ended(t, answers(t, "second"), own.URL)
	for _, address := range []string{own.URL, other.URL} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.RoundTrip(&http.Transport{DisableKeepAlives: true}, req)
		if err != nil {
			t.Fatal(err)
		}
		drain(resp)
	}
	if first, second := <-got, <-got; first != "Bearer second" || second != "" {
		t.Errorf("the server got %q, another one %q", first, second)
	}
	moved := NewSource(Server{Name: "s", URL: own.URL + "/moved"}, s.store, s.log)
	if r, err := moved.current(t.Context()); !errors.As(err, new(Needed)) || r.Token.AccessToken != "" {
		t.Errorf("%+v, %v", r.Token, err)
	}
}

// TestAServerThatRefusesEveryTokenCostsOneRenewal: of all processes together, however often they try, before and after
// a restart.
func TestAServerThatRefusesEveryTokenCostsOneRenewal(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	tokens := answers(t, "renewed")
	a := ended(t, tokens, server.URL)
	r, err := a.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.Token.Expiry = time.Time{} // nothing but the server's refusal renews it
	if _, err := save(t.Context(), a.store, "s", r); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, s := range []*Source{a, NewSource(a.server, a.store, a.log), NewSource(a.server, a.store, a.log)} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := s.RoundTrip(&http.Transport{DisableKeepAlives: true}, req)
			if resp != nil {
				_ = resp.Body.Close()
			}
			if !errors.As(err, new(Needed)) {
				t.Errorf("%+v, %v", resp, err)
			}
		}
	}
}

// TestARefusalWithoutAChallengeWantsALogin: unless the entry has headers that may be what was refused.
func TestARefusalWithoutAChallengeWantsALogin(t *testing.T) {
	t.Parallel()
	for _, headers := range []map[string]string{nil, {"X-Api-Key": "k"}} {
		s := &Source{server: Server{Name: "s", Headers: headers}}
		why := s.why(&http.Response{StatusCode: http.StatusUnauthorized}, Record{})
		if (why == "") != (headers != nil) {
			t.Errorf("with %v: %q", headers, why)
		}
	}
}
