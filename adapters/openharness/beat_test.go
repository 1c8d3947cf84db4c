package openharness_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

// followed are the events of an answer that ends, each as its fields.
func (s *served) followed(t *testing.T, query string) (all []map[string]string) {
	t.Helper()
	r, err := s.http.Client().Get(s.http.URL + "/v1/openharness/events?" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", query, r.StatusCode, text, err)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		e := map[string]string{}
		for line := range strings.SplitSeq(block, "\n") {
			if name, value, ok := strings.Cut(line, ": "); ok && name != "" {
				e[name] = value
			}
		}
		if e["data"] != "" {
			all = append(all, e)
		}
	}
	return all
}

// beat is what the event beat says.
type beat struct {
	At    time.Time
	Epoch string
	Anew  bool
}

func (s *served) said(t *testing.T, session string, n int) {
	t.Helper()
	post := core.Post{
		Key: fmt.Sprintf("%s/%d", session, n), Kind: core.PostReply, Text: fmt.Sprintf("%s says %d", session, n),
		Conversation: core.ConversationID("openharness:oh/local/" + session),
		To:           core.Address{Platform: "openharness"},
	}
	if _, _, err := s.Engine.Post(t.Context(), core.Delivery{Post: post}); err != nil {
		t.Fatal(err)
	}
}

// TestAStreamBeats: with the time and the epoch of the ids. One who comes back with ids of another database, or of a
// later state of this one, is told to begin anew, and gets what there is.
func TestAStreamBeats(t *testing.T) {
	t.Parallel()
	s, other := running(t), running(t)
	for n := range 3 {
		s.said(t, "s1", n)
	}
	other.said(t, "s1", 9)
	first := func(s *served, query string) (b beat, ids []string) {
		t.Helper()
		all := s.followed(t, "session=s1&wait=0&beat=15&"+query)
		if all[0]["event"] != "beat" {
			t.Fatalf("the first event is %v", all[0])
		}
		if err := json.Unmarshal([]byte(all[0]["data"]), &b); err != nil {
			t.Fatal(err)
		}
		for _, e := range all[1:] {
			if e["id"] != "" {
				ids = append(ids, e["id"])
			}
		}
		return b, ids
	}
	b, ids := first(s, "")
	if b.Epoch == "" || b.Anew || time.Since(b.At).Abs() > time.Minute || fmt.Sprint(ids) != "[1 2 3]" {
		t.Errorf("the first beat is %+v before %v", b, ids)
	}
	for _, tc := range []struct {
		of    *served
		query string
		anew  bool
		ids   string
	}{
		{s, "after=2&epoch=" + b.Epoch, false, "[3]"},
		{s, "after=3&epoch=" + b.Epoch, false, "[]"},
		{s, "after=4&epoch=" + b.Epoch, true, "[1 2 3]"},
		{other, "after=1&epoch=" + b.Epoch, true, "[1]"},
		{s, "after=4", false, "[]"},
	} {
		if b, ids := first(tc.of, tc.query); b.Anew != tc.anew || fmt.Sprint(ids) != tc.ids {
			t.Errorf("%s: %+v before %v", tc.query, b, ids)
		}
	}
	if all := s.followed(t, "session=s1&wait=0"); len(all) != 3 {
		t.Errorf("without a beat there are %v", all)
	}
}

// TestAStreamOfSeveralSessions: each event says of which it is, and each session has its own place. The answer ends
// with the news.
func TestAStreamOfSeveralSessions(t *testing.T) {
	t.Parallel()
	s := running(t)
	for n := range 2 {
		s.said(t, "s1", n)
		s.said(t, "s2", n)
	}
	got := func(query string) (all []string) {
		for _, e := range s.followed(t, query) {
			all = append(all, e["session"]+e["id"])
		}
		return all
	}
	more := url.QueryEscape(`{"s2":1,"s3":-1}`)
	if all := got("session=s1&after=1&wait=25&more=" + more); fmt.Sprint(all) != `["s1"2 "s2"2]` {
		t.Errorf("the events are %v", all)
	}
	waits := make(chan []string)
	go func() {
		waits <- got("session=s1&after=2&wait=25&more=" + url.QueryEscape(`{"s2":2}`))
	}()
	s.said(t, "s2", 2)
	if all := <-waits; fmt.Sprint(all) != `["s2"3]` {
		t.Errorf("the news are %v", all)
	}
	for _, bad := range []string{"more=x", `more={"s2":"1"}`, "wait=26", "wait=x", "beat=0", "beat=61"} {
		r, err := s.http.Client().Get(s.http.URL + "/v1/openharness/events?session=s1&" + bad)
		if err != nil {
			t.Fatal(err)
		}
		if r.Body.Close(); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, r.StatusCode)
		}
	}
}
