package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// storyModel answers question n of a session with a story of its own, word by word. It breaks off the first attempt of
// every third one in the middle.
type storyModel struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
}

// storyOf is the whole answer of an attempt. Each attempt has words of its own.
func storyOf(question string, attempt int) string {
	word := fmt.Sprintf(" %s-attempt-%d", question, attempt)
	return "Once" + strings.Repeat(word, 12) + " the end of " + question + "."
}

var storyAsked = regexp.MustCompile(`question-\d+-\d+`)

func newStoryModel(t *testing.T) *storyModel {
	m := &storyModel{asked: map[string]int{}}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *storyModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	all := storyAsked.FindAllString(string(body), -1)
	if len(all) == 0 {
		http.NotFound(w, r)
		return
	}
	question := all[len(all)-1]
	m.mu.Lock()
	m.asked[question]++
	attempt := m.asked[question]
	m.mu.Unlock()
	digest := fnv.New32()
	_, _ = io.WriteString(digest, question)
	breaks := attempt == 1 && digest.Sum32()%3 == 0
	w.Header().Set("Content-Type", "text/event-stream")
	words := strings.SplitAfter(storyOf(question, attempt), " ")
	for i, word := range words {
		if breaks && i == len(words)/2 {
			panic(http.ErrAbortHandler)
		}
		data, _ := json.Marshal(map[string]any{
			"choices": []any{map[string]any{"delta": map[string]any{"content": word}}},
		})
		fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(3 * time.Millisecond): // a model takes its time
		case <-r.Context().Done():
			return
		}
	}
	fmt.Fprint(w, `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// onlooker follows one session as a page does: bubbles of what is being written, each of which the reply of its turn
// settles.
type onlooker struct {
	at, session string
	after       string // the id of the last mail
	bubbles     map[string]string
	replies     map[string][]string // by turn
	errors      int                 // that turns have ended with: a model that keeps breaking off is left alone
	seen        *atomic.Int64       // deltas with a text
	faults      []string
}

// follow reads the events until ctx ends or the connection breaks.
func (o *onlooker) follow(ctx context.Context) {
	address := fmt.Sprintf("%s/v1/openharness/events?session=%s&deltas=1&after=%s", o.at, o.session, o.after)
	q, _ := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return
	}
	defer r.Body.Close()
	lines, event := bufio.NewReader(r.Body), map[string]string{}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			o.take(event)
			event = map[string]string{}
		} else if name, value, ok := strings.Cut(line, ": "); ok {
			event[name] = value
		}
	}
}

func (o *onlooker) take(e map[string]string) {
	if e["event"] == "delta" {
		var d struct {
			Turn, Text string
			Ended      bool
		}
		if e["id"] != "" || json.Unmarshal([]byte(e["data"]), &d) != nil {
			o.faults = append(o.faults, fmt.Sprintf("a delta with an id, or without data: %v", e))
		}
		if d.Ended || o.replies[d.Turn] != nil {
			return
		}
		if o.bubbles[d.Turn] = d.Text; d.Text != "" {
			o.seen.Add(1)
			o.judge(d.Text)
		}
		return
	}
	if e["event"] != "" || e["id"] == "" {
		return
	}
	o.after = e["id"]
	var got struct {
		Response struct {
			Extensions map[string]struct{ Turn, Kind string } // of an error, which the turn has ended with
			Directives []struct {
				Payload    struct{ Text string }
				Extensions map[string]struct{ Turn, Kind string }
			} `json:"action_directives"`
		}
	}
	if err := json.Unmarshal([]byte(e["data"]), &got); err != nil {
		o.faults = append(o.faults, err.Error())
		return
	}
	if own := got.Response.Extensions["dev.gatehouse"]; own.Kind == "error" {
		o.errors++
		delete(o.bubbles, own.Turn)
		o.replies[own.Turn] = []string{}
	}
	for _, d := range got.Response.Directives {
		if own := d.Extensions["dev.gatehouse"]; own.Kind == "reply" {
			o.replies[own.Turn] = append(o.replies[own.Turn], d.Payload.Text)
			delete(o.bubbles, own.Turn)
		}
	}
}

// judge checks what is shown of an answer: the beginning of one attempt, and of no two.
func (o *onlooker) judge(text string) {
	question := storyAsked.FindString(text)
	if question == "" {
		return
	}
	for attempt := 1; attempt < 20; attempt++ {
		if strings.HasPrefix(storyOf(question, attempt), text) {
			return
		}
	}
	o.faults = append(o.faults, "shown is the beginning of no attempt: "+text)
}

// TestLaw2_StreamedTurnsThroughKills: turns are followed while they are written, with kill -9 of the process and models
// that break off in the middle. Every message has one whole reply, or one error that is
// told, and it takes the place of what was shown of its turn.
func TestLaw2_StreamedTurnsThroughKills(t *testing.T) {
	t.Parallel()
	sessions, each, kills := wide(25, 4), wide(40, 5), wide(15, 3)
	m := newStoryModel(t)
	p := newLocal(t, "GATEHOUSE_AGENT=llm", "GATEHOUSE_MODEL=openai:slow", "OPENAI_API_KEY=sk-test",
		"OPENAI_BASE_URL="+m.URL+"/v1", "GATEHOUSE_RATE=0", "GATEHOUSE_LEASE=1s")
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var deltas, said atomic.Int64
	var all []*onlooker
	var following, sending sync.WaitGroup
	for s := range sessions {
		o := &onlooker{
			at: p.at, session: fmt.Sprintf("s%d", s), after: "0", bubbles: map[string]string{},
			replies: map[string][]string{}, seen: &deltas,
		}
		all = append(all, o)
		following.Go(func() {
			for ctx.Err() == nil {
				o.follow(ctx)
				pauseBriefly(ctx)
			}
		})
		sending.Go(func() {
			for n := range each {
				body, _ := json.Marshal(request(fmt.Sprintf("r-%d-%d", s, n), o.session,
					fmt.Sprintf("question-%d-%d", s, n)))
				for ctx.Err() == nil && !answersWhole(ctx, p.at, body) {
					pauseBriefly(ctx)
				}
				said.Add(1)
			}
		})
	}
	for k := range kills {
		due := int64((k + 1) * sessions * each / (kills + 1))
		before := deltas.Load()
		p.until("a turn in the middle", p.app, func() bool { return said.Load() >= due && deltas.Load() > before })
		p.app.kill()
		p.open()
	}
	sending.Wait()
	p.until("the end of all turns", p.app, p.settled)
	p.until("every reply is followed", p.app, func() bool { return said.Load() == int64(sessions*each) })
	if t.Failed() {
		return
	}
	last := func() { // each onlooker gets what it has not got yet
		end()
		following.Wait()
		for _, o := range all {
			once, stop := context.WithTimeout(t.Context(), time.Second)
			o.follow(once)
			stop()
		}
	}
	last()
	judgeStories(t, all, sessions, each)
	t.Logf("%d turns, %d kills, %d deltas", sessions*each, kills, deltas.Load())
}

// judgeStories checks that every question of every session has one whole answer, and nothing is left of its turn.
func judgeStories(t *testing.T, all []*onlooker, sessions, each int) {
	t.Helper()
	for s, o := range all {
		told := map[string]int{}
		for turn, texts := range o.replies {
			for _, text := range texts {
				question := storyAsked.FindString(text)
				told[question]++
				if !strings.HasSuffix(text, " the end of "+question+".") || strings.Count(text, "Once") != 1 {
					t.Errorf("turn %s: a reply is truncated or doubled: %q", turn, text)
				}
				o.judge(text)
			}
		}
		none := 0
		for n := range each {
			switch question := fmt.Sprintf("question-%d-%d", s, n); told[question] {
			case 0:
				none++
			case 1:
			default:
				t.Errorf("%s has %d replies", question, told[question])
			}
		}
		if none != o.errors {
			t.Errorf("session %d: %d questions have no reply, and %d errors were told", s, none, o.errors)
		}
		if len(o.bubbles) > 0 {
			t.Errorf("unsettled: %v", o.bubbles)
		}
		if len(o.faults) > 0 {
			t.Error(o.faults)
		}
	}
}

// pauseBriefly waits before something is tried again.
func pauseBriefly(ctx context.Context) {
	select {
	case <-time.After(20 * time.Millisecond):
	case <-ctx.Done():
	}
}

// answersWhole sends a request, and reports whether it was taken.
func answersWhole(ctx context.Context, at string, body []byte) bool {
	q, _ := http.NewRequestWithContext(ctx, http.MethodPost, at+"/v1/openharness", bytes.NewReader(body))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Prefer", "wait=20")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return err == nil && r.StatusCode == http.StatusOK
}
