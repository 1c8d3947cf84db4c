package openharness_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/openharness"
	"gatehouse/core"
)

// replacing is a message in the place of an earlier one.
func replacing(id, earlier, text string) []byte {
	return fmt.Appendf(nil, `{"protocol_version":"1.0.0","request_id":%q,"request":{"context":{"session_id":"s1",`+
		`"user_intent":%q},"extensions":{"dev.gatehouse":{"replaces":%q}}}}`, id, text, earlier)
}

// waits are the texts of the messages that wait, the latest first.
func (s *served) waits(t *testing.T) (all []string) {
	t.Helper()
	events, err := s.store.Events(t.Context(), core.EventFilter{Waiting: true, Kinds: []core.Kind{core.KindMessage}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		var p struct{ Text string }
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p.Text)
	}
	return all
}

// answered sends a request and returns what the answer says that it has replaced.
func (s *served) answered(t *testing.T, body []byte, wanted int) (replaced string) {
	t.Helper()
	status, raw, err := s.post(body)
	var a struct {
		Response struct {
			Extensions map[string]struct{ Replaced string }
		}
	}
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err != nil || status != wanted {
		t.Fatalf("%s is answered %d %s %v, not %d", body, status, raw, err, wanted)
	}
	return a.Response.Extensions["dev.gatehouse"].Replaced
}

// TestAMessageTakesThePlaceOfOneThatWaits, once: a repetition changes nothing more, and an id is one request's. One
// whose turn has begun stays, and so does what is no message.
func TestAMessageTakesThePlaceOfOneThatWaits(t *testing.T) {
	t.Parallel()
	s := running(t)
	is := func(want ...string) {
		t.Helper()
		if got := s.waits(t); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("there wait %q, not %q", got, want)
		}
	}
	s.answered(t, message("r1", `"user_intent":"first"`), http.StatusOK)
	for range 2 {
		if got := s.answered(t, replacing("r2", "r1", "second"), http.StatusOK); got != "r1" {
			t.Errorf("replaced %q", got)
		}
		is("second")
	}
	s.answered(t, replacing("r2", "r1", "third"), http.StatusConflict)
	s.answered(t, message("r2", `"user_intent":"fourth"`), http.StatusOK) // the id of a change is no message's
	is("fourth", "second")
	s.answered(t, replacing("r2", "r1", "fifth"), http.StatusConflict)
	is("fourth", "second")
	if got := s.answered(t, replacing("r3", "r9", "sixth"), http.StatusOK); got != "" {
		t.Errorf("an unknown one is replaced: %q", got)
	}
	is("sixth", "fourth", "second")
	s.answered(t, message("r4", `"user_intent":"!status"`), http.StatusOK)
	if got := s.answered(t, replacing("r5", "r4", "seventh"), http.StatusOK); got != "" {
		t.Errorf("a control word is replaced: %q", got)
	}
	is("seventh", "sixth", "fourth", "second")
	owner, err := s.store.Register(t.Context(), "another process", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Claim(t.Context(), core.ClaimRequest{
		Owner: owner, Limit: 9, Scopes: []core.Scope{{Platform: "openharness"}},
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := s.answered(t, replacing("r6", "r1", "eighth"), http.StatusOK); got != "" {
			t.Errorf("one that has begun is replaced: %q", got)
		}
		is("eighth", "seventh", "sixth", "fourth", "second")
	}
}

// TestReplacingCountsAsAMessage.
func TestReplacingCountsAsAMessage(t *testing.T) {
	t.Parallel()
	s := running(t, func(o *openharness.Options) { o.Rate = 1 })
	s.answered(t, message("r0", `"user_intent":"hello"`), http.StatusOK)
	for n := range 9 {
		s.answered(t, replacing(fmt.Sprint("c", n), "r0", "again"), http.StatusOK)
	}
	s.answered(t, replacing("c9", "r0", "again"), http.StatusTooManyRequests)
}
