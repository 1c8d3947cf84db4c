package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gatehouse/adapters/agents"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/approvals"
	"gatehouse/approvals/proof"
	"gatehouse/core"
	"gatehouse/storage"
)

// agentPolicy lets bob decide what other agents request, in the channel C1, and answer what they ask.
const agentPolicy = `version: 1
people: {bob: [slack:U2BOB]}
rules:
  - {name: deployments, tools: ["external.*.deploy"], action: ask, approvers: [person:bob], notify: ["slack:C1"]}
  - {name: reports, tools: ["external.ci.report"], action: allow}
  - {name: silent, tools: ["external.ci.silent"], action: ask, approvers: [person:bob]}
  - {name: never, tools: ["external.*.wipe"], action: deny, why: Nothing is wiped.}
asks:
  - {tools: ["external.ci.*"], to: [person:bob], notify: ["slack:C1"]}
`

const (
	ciToken = "ci-token-0123456789"
	cdToken = "cd-token-0123456789"
)

// serveAgents starts a fake Slack and a gateway for the agents ci and cd.
func serveAgents(t *testing.T, env map[string]string) *testGateway {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	noErr(t, os.WriteFile(file, []byte(agentPolicy), 0o600))
	all := map[string]string{
		"SLACK_SIGNING_SECRET": "8f742231b10e8888abcd99yyyzzz85a5", "GATEHOUSE_APPROVERS": "",
		"GATEHOUSE_APPROVAL_POLICY": file, "GATEHOUSE_TOKENS": "ci=" + ciToken + ",cd=" + cdToken,
	}
	for k, v := range env {
		all[k] = v
	}
	return serveSlack(t, slacktest.Options{}, all)
}

// agent is a client of /v1/approvals.
type agentClient struct {
	t         *testing.T
	at, token string
}

// do sends a request, and reads the state or the fault of the answer.
func (c agentClient) do(method, path, key, body string) (status int, s agents.State, f agents.FaultDetail) {
	c.t.Helper()
	r, err := http.NewRequest(method, c.at+path, strings.NewReader(body))
	noErr(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := (&http.Client{Timeout: patience}).Do(r)
	noErr(c.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	noErr(c.t, err)
	c.described(method, path, body, answer.StatusCode, text)
	var fault agents.Fault
	if answer.StatusCode >= 300 {
		err = json.Unmarshal(text, &fault)
	} else {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		c.t.Fatalf("%d %s: %v", answer.StatusCode, text, err)
	}
	return answer.StatusCode, s, fault.Error
}

// must is do that has to succeed.
func (c agentClient) must(method, path, key, body string) agents.State {
	c.t.Helper()
	status, s, f := c.do(method, path, key, body)
	if status >= 300 {
		c.t.Fatalf("%s %s: %d %s", method, path, status, f.Message)
	}
	return s
}

const deploy = `{"action":"deploy","summary":"Deploy version 7 to production.","arguments":{"version":7,"to":"prod"}}`

func TestAnAgentAsksAndAClickDecides(t *testing.T) {
	t.Parallel()
	s := serveAgents(t, nil)
	ci := agentClient{t, s.base, ciToken}
	asked := ci.must("POST", "/v1/approvals", "k1", deploy)
	if asked.State != core.Open || asked.Action != "external.ci.deploy" || asked.Proof != "" {
		t.Fatalf("it is %+v", asked)
	}
	card := s.card("C1", "", "Deploy version 7 to production.")
	if again := ci.must("POST", "/v1/approvals", "k1",
		`{"arguments":{"to":"prod","version":7},"summary":"Deploy version 7 to production.",`+
			`"action":"deploy"}`); again.ID != asked.ID {
		t.Errorf("the same request is %s, and was %s", again.ID, asked.ID)
	}
	if status, _, f := ci.do("POST", "/v1/approvals", "k1", strings.Replace(deploy, "7", "8", 1)); status != 400 ||
		!strings.Contains(f.Message, "used for another request") {
		t.Errorf("another request under the same key: %d %s", status, f.Message)
	}
	waited := make(chan agents.State, 1)
	go func() { waited <- ci.must("GET", "/v1/approvals/"+string(asked.ID)+"?wait=30", "", "") }()
	s.eve.Clicks("C1", card.TS, "approve")
	if _, err := s.slack.WaitForEphemeral(s.ctx(), "C1", "U3EVE", "not an approver"); err != nil {
		t.Fatal(err)
	}
	s.bob.Clicks("C1", card.TS, "approve")
	got := <-waited
	if got.State != core.Approved || got.DecidedBy == nil || got.DecidedBy.ID != "slack:U2BOB" ||
		got.Rule != "deployments" {
		t.Fatalf("it is %+v", got)
	}
	s.shows("C1", card.TS, "pproved", 0)
	if n := len(s.slack.Messages("C1")); n != 1 {
		t.Errorf("%d messages in the channel, want the card alone\n%s", n, s.slack.Dump())
	}

	claims, err := proof.Verify(got.Proof, s.keys())
	if err != nil || claims.Subject != string(asked.ID) || claims.Decision != "approved" ||
		claims.ByID != "slack:U2BOB" {
		t.Errorf("the proof says %+v, %v", claims, err)
	}
	if err := claims.Covers([]byte(`{"to":"prod","version":7}`)); err != nil {
		t.Errorf("the proof does not cover the arguments: %v", err)
	}
	if claims.Covers([]byte(`{"to":"prod","version":8}`)) == nil {
		t.Error("the proof covers other arguments")
	}
}

// keys are those that the gateway publishes.
func (s *testGateway) keys() jose.JSONWebKeySet {
	s.t.Helper()
	answer, err := http.Get(s.base + proof.Path)
	noErr(s.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	noErr(s.t, err)
	set, err := proof.ParseSet(text)
	noErr(s.t, err)
	return set
}

// TestAnAgentLearnsThatNobodyWasTold: the channel that the policy names refuses the card, so the request says so until
// it is decided. So do the keys that proofs are checked with, of an installation without a secret key.
func TestAnAgentLearnsThatNobodyWasTold(t *testing.T) {
	t.Parallel()
	s := serveAgents(t, nil)
	s.slack.Inject(
		slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.Refused("not_in_channel"), Times: 1000})
	ci := agentClient{t, s.base, ciToken}
	asked := ci.must("POST", "/v1/approvals", "", deploy)
	var got agents.State
	for deadline := time.Now().Add(patience); got.Delivery == nil && time.Now().Before(deadline); {
		got = ci.must("GET", "/v1/approvals/"+string(asked.ID)+"?wait=1", "", "")
	}
	if d := got.Delivery; got.State != core.Open || d == nil || d.State != "undelivered" ||
		!strings.Contains(d.Why, "delivery_forbidden") {
		t.Errorf("it is %+v, delivery %+v", got, got.Delivery)
	}
	answer, err := http.Get(s.base + proof.Path)
	noErr(t, err)
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil ||
		!strings.Contains(string(text), "can forge proofs") {
		t.Errorf("the keys are %s, %v", text, err)
	}
}

func TestAnAgentAsksAQuestion(t *testing.T) {
	t.Parallel()
	s := serveAgents(t, nil)
	ci := agentClient{t, s.base, ciToken}
	asked := ci.must("POST", "/v1/approvals", "",
		`{"question":"Which colour?","schema":{"type":"string","enum":["red","blue"]}}`)
	s.card("C1", "", "Which colour?")
	if asked.State != core.Open || asked.Question != "Which colour?" || asked.Action != "external.ci.ask" {
		t.Fatalf("it is %+v", asked)
	}
	store, err := storage.Open(t.Context(), s.db, storage.Options{})
	noErr(t, err)
	defer store.Close()
	if _, err := approvals.NewService(store, store).AdminVote(t.Context(),
		core.Click{Approval: asked.ID, Choice: core.Answer, Option: 2}, "bob", "test"); err != nil {
		t.Fatal(err)
	}
	got := ci.must("GET", "/v1/approvals/"+string(asked.ID)+"?wait=30s", "", "")
	if got.State != core.Answered || string(got.Answer) != `"blue"` {
		t.Errorf("it is %+v", got)
	}
}

func TestThePolicyDecidesWhatAnAgentMayAsk(t *testing.T) {
	t.Parallel()
	s := serveAgents(t, map[string]string{"GATEHOUSE_CALLBACK_HOSTS": "hooks.example.com"})
	ci, cd := agentClient{t, s.base, ciToken}, agentClient{t, s.base, cdToken}
	if got := ci.must("POST", "/v1/approvals", "",
		`{"action":"report","summary":"Send the report."}`); got.State != core.Approved || got.Proof == "" {
		t.Errorf("what a rule allows is %+v", got)
	}
	mine := ci.must("POST", "/v1/approvals", "mine", deploy)
	for name, c := range map[string]struct {
		who                     agentClient
		method, path, key, body string
		status                  int
		says                    string
	}{
		"denied by a rule": {
			ci, "POST", "/v1/approvals", "", `{"action":"wipe","summary":"Wipe it."}`, 403, "Nothing is wiped.",
		},
		"no place for the card": {
			ci, "POST", "/v1/approvals", "", `{"action":"silent","summary":"Hush."}`, 403, "add notify:",
		},
		"no rule, and no approvers": {
			ci, "POST", "/v1/approvals", "", `{"action":"other","summary":"Do it."}`, 403, "GATEHOUSE_APPROVERS",
		},
		"nobody to ask": {
			cd, "POST", "/v1/approvals", "", `{"question":"Why?"}`, 403, "lets external.cd.ask ask nobody",
		},
		"somebody else to ask": {
			ci, "POST", "/v1/approvals", "", `{"question":"Why?","of":["slack:U1ANN"]}`, 403, "It may ask: person:bob.",
		},
		"somebody else's request":    {cd, "GET", "/v1/approvals/" + string(mine.ID), "", "", 404, "no request"},
		"an id that is none":         {ci, "GET", "/v1/approvals/nothing", "", "", 404, "no request"},
		"withdrawn by somebody else": {cd, "DELETE", "/v1/approvals/" + string(mine.ID), "", "", 404, "no request"},
		"without a token": {
			agentClient{t, s.base, ""}, "GET", "/v1/approvals/" + string(mine.ID), "", "", 401, "",
		},
		"with a wrong token": {
			agentClient{t, s.base, "wrong-token-0123456789"}, "GET", "/v1/approvals/" + string(mine.ID), "", "", 401,
			"",
		},
		"risk read": {
			ci, "POST", "/v1/approvals", "", `{"action":"deploy","summary":"x","risk":"read"}`, 400,
			"write or destructive",
		},
		"an unknown member": {
			ci, "POST", "/v1/approvals", "", `{"action":"deploy","summary":"x","approvers":["slack:U1ANN"]}`, 400,
			"no member",
		},
		"a member twice": {
			ci, "POST", "/v1/approvals", "", `{"action":"deploy","action":"x","summary":"x"}`, 400, "",
		},
		"no summary": {
			ci, "POST", "/v1/approvals", "", `{"action":"deploy"}`, 400, "summary is missing",
		},
		"a question and an approval": {
			ci, "POST", "/v1/approvals", "", `{"action":"deploy","summary":"x","question":"y"}`, 400, "of its own",
		},
		"an action with a path": {
			ci, "POST", "/v1/approvals", "", `{"action":"../x","summary":"x"}`, 400, "action must be",
		},
		"ten megabytes": {
			ci, "POST", "/v1/approvals", "",
			`{"action":"deploy","summary":"x","arguments":{"a":"` + strings.Repeat("x", 10<<20) + `"}}`, 413,
			"larger than",
		},
		"arguments that nobody reads": {
			ci, "POST", "/v1/approvals", "",
			`{"action":"deploy","summary":"x","arguments":{"a":"` + strings.Repeat("x", 300<<10) + `"}}`, 413, "limit",
		},
		"a callback that isn't listed": {
			ci, "POST", "/v1/approvals", "",
			`{"action":"deploy","summary":"x","callback_url":"https://evil.example/hook"}`, 400,
			"GATEHOUSE_CALLBACK_HOSTS",
		},
		"a callback to this machine": {
			ci, "POST", "/v1/approvals", "",
			`{"action":"deploy","summary":"x","callback_url":"https://127.0.0.1/hook"}`, 400, "",
		},
		"no JSON": {ci, "POST", "/v1/approvals", "", `action=deploy`, 400, "not valid JSON"},
		"a wait too long": {
			ci, "GET", "/v1/approvals/" + string(mine.ID) + "?wait=61s", "", "", 400,
			"wait must be a time from 0s to 60s",
		},
		"a wait before now": {
			ci, "GET", "/v1/approvals/" + string(mine.ID) + "?wait=-1s", "", "", 400, "wait must be",
		},
		"a wait that is none": {
			ci, "GET", "/v1/approvals/" + string(mine.ID) + "?wait=soon", "", "", 400, "wait must be",
		},
		"a parameter that is not known": {
			ci, "GET", "/v1/approvals/" + string(mine.ID) + "?timeout=30", "", "", 400,
			"The parameter \"timeout\" is not known here",
		},
		"two waits": {ci, "GET", "/v1/approvals/" + string(mine.ID) + "?wait=0&wait=30", "", "", 400, "given twice"},
	} {
		status, _, f := c.who.do(c.method, c.path, c.key, c.body)
		if status != c.status || !strings.Contains(f.Message, c.says) || f.Message == "" {
			t.Errorf("%s: %d %s: %s", name, status, f.Code, f.Message)
		}
	}
	if got := ci.must("DELETE", "/v1/approvals/"+string(mine.ID), "", ""); got.State != core.Cancelled {
		t.Errorf("withdrawn, it is %s", got.State)
	}
	if got := ci.must("DELETE", "/v1/approvals/"+string(mine.ID), "", ""); got.State != core.Cancelled {
		t.Errorf("withdrawn twice, it is %s", got.State)
	}
}

// TestACallbackReachesAServerThatFails: the decision is posted until the server takes it, under one id, with a
// signature.
func TestACallbackReachesAServerThatFails(t *testing.T) {
	t.Parallel()
	var calls, taken atomic.Int64
	var ids [2]atomic.Value
	var body, headers atomic.Value
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		n := calls.Add(1)
		ids[min(n, 2)-1].Store(r.Header.Get("webhook-id"))
		if n < 4 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		taken.Add(1)
		body.Store(text)
		headers.Store(r.Header.Clone())
	}))
	t.Cleanup(hook.Close)
	s := serveAgents(t, map[string]string{"GATEHOUSE_CALLBACK_HOSTS": strings.TrimPrefix(hook.URL, "http://")})
	ci := agentClient{t, s.base, ciToken}
	asked := ci.must("POST", "/v1/approvals",
		"", strings.Replace(deploy, "{", fmt.Sprintf(`{"callback_url":%q,`, hook.URL+"/decided"), 1))
	s.bob.Clicks("C1", s.card("C1", "", "Deploy").TS, "approve")
	waitUntil(t, func() bool { return headers.Load() != nil }, "the server takes the decision")
	secret, err := standardwebhooks.NewWebhook(asked.Secret)
	noErr(t, err)
	if err := secret.Verify(body.Load().([]byte), headers.Load().(http.Header)); err != nil {
		t.Errorf("the signature: %v", err)
	}
	var got agents.State
	if err := json.Unmarshal(body.Load().([]byte), &got); err != nil || got.ID != asked.ID ||
		got.State != core.Approved || got.Proof == "" || got.Secret != "" {
		t.Errorf("it is told %+v, %v", got, err)
	}
	if a, b := ids[0].Load(), ids[1].Load(); a != b || taken.Load() != 1 || calls.Load() != 4 {
		t.Errorf("ids %v and %v, taken %d times of %d", a, b, taken.Load(), calls.Load())
	}
}

// A flood of requests is refused with how long to wait; asking for the same again, and for its state, is not.
func TestAnAgentsFloodIsRefused(t *testing.T) {
	t.Parallel()
	s := serveAgents(t, map[string]string{"GATEHOUSE_RATE": "1"})
	ci := agentClient{t, s.base, ciToken}
	var first agents.State
	for i := range agentsPerPerson {
		got := ci.must("POST", "/v1/approvals", fmt.Sprint("k", i), deploy)
		if i == 0 {
			first = got
		}
	}
	if status, _, f := ci.do("POST", "/v1/approvals", "more", deploy); status != 429 || f.Code != "rate_limited" ||
		!strings.Contains(f.Message, "Wait a moment") {
		t.Errorf("%d %+v", status, f)
	}
	if again := ci.must("POST", "/v1/approvals", "k0", deploy); again.ID != first.ID {
		t.Errorf("asked again, it is %s, and was %s", again.ID, first.ID)
	}
	cd := agentClient{t, s.base, cdToken}
	cd.must("POST", "/v1/approvals", "k0", deploy)
}

// TestAnAgentTakesNoActionOfAnother: what the policy allows ci.prod is not what ci calls prod.report.
func TestAnAgentTakesNoActionOfAnother(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	text := "version: 1\nrules:\n  - {name: prod, tools: [\"external.ci.prod.*\"], action: allow}\n  - {name: rest, " +
		"action: deny}\n"
	noErr(t, os.WriteFile(file, []byte(text), 0o600))
	s := serveAgents(t,
		map[string]string{
			"GATEHOUSE_APPROVAL_POLICY": file,
			"GATEHOUSE_TOKENS":          "ci=" + ciToken + ",CI.prod=" + cdToken + ",x=" + cdToken + "x",
		})
	ci, x := agentClient{t, s.base, ciToken}, agentClient{t, s.base, cdToken + "x"}
	for action, want := range map[string]string{
		"prod.report": "Take a name that does not begin with prod.", "prod.a.b": "would look like one of ci.prod",
		"product.report": "The policy does not allow external.ci.product.report.",
	} {
		if status, _, f := ci.do("POST", "/v1/approvals", "", `{"action":"`+action+`","summary":"x"}`); status < 400 ||
			!strings.Contains(f.Message, want) {
			t.Errorf("%s: %d %+v", action, status, f)
		}
	}
	if status, _, f := x.do("POST", "/v1/approvals", "", `{"action":"prod.report","summary":"x"}`); status != 403 ||
		f.Code != "policy_denied" || !strings.Contains(f.Message, "does not allow external.x.prod.report") {
		t.Errorf("refused without a reason of the policy: %d %+v", status, f)
	}
}
