package openharness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

// turns reads the events turn of a stream: since when a turn runs.
func (s *served) turns(t *testing.T) (next func() time.Time) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	q, err := http.NewRequestWithContext(ctx, http.MethodGet,
		s.http.URL+"/v1/openharness/events?session=s1&beat=9", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.http.Client().Do(q)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Body.Close() })
	in := bufio.NewScanner(r.Body)
	return func() (since time.Time) {
		t.Helper()
		for named := false; in.Scan(); named = in.Text() == "event: turn" {
			data, ok := strings.CutPrefix(in.Text(), "data: ")
			if !named || !ok {
				continue
			}
			var told struct{ Since time.Time }
			if err := json.Unmarshal([]byte(data), &told); err != nil {
				t.Fatal(err)
			}
			return told.Since
		}
		t.Fatalf("the stream ended without another turn: %v", in.Err())
		return since
	}
}

// TestAStreamTellsOfATurnThatRuns: of one that another process runs, too, to whoever listens before it begins and to
// whoever comes later. A message that waits is not a turn.
func TestAStreamTellsOfATurnThatRuns(t *testing.T) {
	t.Parallel()
	s := running(t)
	first := s.turns(t)
	if since := first(); !since.IsZero() {
		t.Errorf("before anything was said a turn runs since %s", since)
	}
	s.pending(t, message("r1", `"user_intent":"hello"`))
	if since := s.turns(t)(); !since.IsZero() {
		t.Errorf("a message that waits is told as a turn, since %s", since)
	}
	owner, err := s.store.Register(t.Context(), "another process", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := s.store.Claim(t.Context(), core.ClaimRequest{
		Owner: owner, Limit: 1, Scopes: []core.Scope{{Platform: "openharness"}},
	})
	if err != nil || len(claims) != 1 {
		t.Fatalf("claimed %d events, %v", len(claims), err)
	}
	accepted := claims[0].Event.AcceptedAt
	if since := first(); !since.Equal(accepted) {
		t.Errorf("the turn runs since %s, not %s", since, accepted)
	}
	if since := s.turns(t)(); !since.Equal(accepted) {
		t.Errorf("a later stream begins with a turn since %s, not %s", since, accepted)
	}
	end := core.Finish{Claim: claims[0], End: core.End{Kind: core.EndReplied}}
	if err := s.store.Finish(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	if since := first(); !since.IsZero() {
		t.Errorf("after its end the turn runs since %s", since)
	}
}
