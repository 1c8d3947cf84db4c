package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/agents"
	"gatehouse/approvals"
	"gatehouse/core"
)

// try is do for a process that may just be down.
func (c agentClient) try(method, path, key, body string) (s agents.State, err error) {
	r, err := http.NewRequest(method, c.at+path, strings.NewReader(body))
	if err != nil {
		return s, err
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Authorization": {"Bearer " + c.token}, "Idempotency-Key": {key},
	}
	if key == "" {
		r.Header.Del("Idempotency-Key")
	}
	answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
	if err != nil {
		return s, err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		return s, fmt.Errorf("status %d", answer.StatusCode)
	}
	return s, json.NewDecoder(answer.Body).Decode(&s)
}

// agentScenario is a request of an agent that repeats it until it is answered, its decision and the callback. The
// process is killed at the n-th pass of a point, and started again.
func agentScenario(t *testing.T, point string, nth int, record string) {
	var mu sync.Mutex
	taken := map[string]int{}
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		taken[r.Header.Get("webhook-id")]++
	}))
	defer hook.Close()
	p := newAgentProcessWith(t, sqliteFile,
		[]string{"GATEHOUSE_CALLBACK_HOSTS=" + strings.TrimPrefix(hook.URL, "http://")}, armed(point, nth, record)...)
	ci := agentClient{t, p.at, ciToken}
	body := strings.Replace(deploy, "{", fmt.Sprintf(`{"callback_url":%q,`, hook.URL), 1)
	var asked, got agents.State
	var err error
	p.untilRestarting("the request", func() bool {
		asked, err = ci.try("POST", "/v1/approvals", "k1", body)
		return err == nil
	})
	p.untilRestarting("the card", func() bool { return len(p.slack.Messages("C1")) > 0 })
	click := core.Click{Approval: asked.ID, Choice: core.Approve}
	if _, err := approvals.NewService(p.store, p.store).AdminVote(t.Context(), click, "", "test"); err != nil {
		t.Fatal(err)
	}
	p.untilRestarting("the decision", func() bool {
		got, err = ci.try("GET", "/v1/approvals/"+string(asked.ID)+"?wait=5", "", "")
		return err == nil && got.State != core.Open
	})
	p.untilRestarting("the callback", func() bool { mu.Lock(); defer mu.Unlock(); return len(taken) > 0 })
	p.untilRestarting("the deliveries", p.posted)
	var again agents.State
	p.untilRestarting("the request once more", func() bool {
		again, err = ci.try("POST", "/v1/approvals", "k1", body)
		return err == nil
	})
	p.app.kill()
	if got.State != core.Approved || got.Proof == "" || err != nil || again.ID != asked.ID ||
		again.State != core.Approved {
		t.Errorf("%s: it is %+v, and again %+v, %v", point, got, again, err)
	}
	if cards, all := len(p.slack.Messages("C1")), p.approvals(); cards != 1 || len(all) != 1 || len(taken) != 1 ||
		taken[string(asked.ID)] == 0 {
		t.Errorf("%s: %d cards, %d requests, callbacks %v", point, cards, len(all), taken)
	}
}

// TestLaw2_AgentsKilledAtEveryPoint kills the process before and after every store call of a request of another agent,
// from its arrival to the callback: one card, one decision, one id of callbacks.
func TestLaw2_AgentsKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "points")
	agentScenario(t, "", 0, record)
	for point, nths := range passes(t, record, "OpenExternal", "AddTask", "EndTask", "SavePost", "ReleasePost") {
		for _, nth := range slices.Compact([]int{nths[0], nths[len(nths)-1]}) {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				agentScenario(t, point, nth, "")
			})
		}
	}
}

// TestLaw7_ManyAgentsThroughTwoReplicas: 60 requests of four callers, 200 if wide, are open at once, made and
// decided through two processes on one database in a random order. Each caller gets its own decisions, and no other.
func TestLaw7_ManyAgentsThroughTwoReplicas(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		const callers = 4
		each := wide(50, 15)
		tokens := []string{"bob!=" + bobsToken}
		for i := range callers {
			tokens = append(tokens, fmt.Sprintf("agent%d=agent-%d-token-0123456789", i, i))
		}
		first := newEngine(t, e, tokens, "GATEHOUSE_RATE=0")
		address := freeAddress(t)
		second := first.start([]string{"GATEHOUSE_LISTEN=" + address}, "serve")
		at := []string{first.at, "http://" + address}
		(&serveProcess{workbench: first.workbench, at: at[1], app: second}).waitUp(t.Context())

		type request struct {
			caller int
			id     core.ApprovalID
			deny   bool
		}
		all := make([]request, callers*each)
		together(t, len(all), func(i int) error {
			c := agentClient{t, at[i%2], fmt.Sprintf("agent-%d-token-0123456789", i%callers)}
			s, err := c.try("POST", "/v1/approvals", fmt.Sprint("k", i/callers),
				fmt.Sprintf(`{"action":"deploy","summary":"Deploy %d."}`, i))
			all[i] = request{i % callers, s.ID, rand.IntN(2) == 0}
			return err
		})
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		together(t, len(all), func(i int) error { return decideOnPage(at[rand.IntN(2)], all[i].id, all[i].deny) })
		together(t, len(all), func(i int) error {
			r := all[i]
			s, err := agentClient{t, at[rand.IntN(2)], fmt.Sprintf("agent-%d-token-0123456789", r.caller)}.try("GET",
				"/v1/approvals/"+string(r.id)+"?wait=20", "", "")
			want := core.Approved
			if r.deny {
				want = core.Denied
			}
			if err != nil || s.State != want || s.DecidedBy == nil || s.DecidedBy.ID != "openharness:bob" {
				return fmt.Errorf("%s is %+v, want %s: %w", r.id, s, want, err)
			}
			if _, err := (agentClient{t, at[0], fmt.Sprintf("agent-%d-token-0123456789", (r.caller+1)%callers)}).try(
				"GET", "/v1/approvals/"+string(r.id), "", ""); err == nil {
				return fmt.Errorf("%s is shown to another caller", r.id)
			}
			return nil
		})
	})
}

// together calls do for all numbers below n, sixteen at a time, and fails with the first error.
func together(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	slots, errs := make(chan struct{}, 16), make(chan error, n)
	for i := range n {
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			errs <- do(i)
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

// decideOnPage decides as bob on the page of an approval.
func decideOnPage(at string, id core.ApprovalID, deny bool) error {
	form := url.Values{"choice": {string(core.Approve)}}
	if deny {
		form = url.Values{"choice": {string(core.Deny)}, "reason": {"no"}}
	}
	r, err := http.NewRequest(http.MethodPost, at+"/approvals/"+string(id), bytes.NewBufferString(form.Encode()))
	if err != nil {
		return err
	}
	r.Header = http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Authorization": {"Bearer " + bobsToken},
	}
	answer, err := (&http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 400 {
		return fmt.Errorf("the decision on %s: %s", id, answer.Status)
	}
	return nil
}
