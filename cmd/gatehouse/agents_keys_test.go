package main

import (
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"gatehouse/adapters/agents"
	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// call calls a tool of the MCP server, and reads the state that it returns.
func (c agentClient) call(tool, arguments string) (s agents.State) {
	c.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments +
		`}}`
	r, err := http.NewRequest("POST", c.at+"/mcp", strings.NewReader(body))
	noErr(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+c.token)
	answer, err := (&http.Client{Timeout: patience}).Do(r)
	noErr(c.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	var got struct {
		Result struct{ StructuredContent agents.State }
	}
	if err != nil || json.Unmarshal(text, &got) != nil || got.Result.StructuredContent.ID == "" {
		c.t.Fatalf("%s: %d %s, %v", tool, answer.StatusCode, text, err)
	}
	return got.Result.StructuredContent
}

// TestOneRequestHoweverItIsWritten: under one key, numbers and times that are the same and what is the same as
// nothing make no other request, over HTTP as over MCP; another number does.
func TestOneRequestHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	s := serveAgents(t, nil)
	ci := agentClient{t, s.base, ciToken}
	const begin = `"action":"deploy","summary":"Pay it.","arguments":`
	first := ci.must("POST", "/v1/approvals", "k1", `{`+begin+`{"amount":1,"n":1e2,"big":9007199254740993}}`)
	for _, same := range []string{
		`{` + begin + `{"amount":1.0,"n":100,"big":9007199254740993}}`,
		`{"risk":"write",` + begin + `{"big":9007199254740993,"amount":10e-1,"n":100.00}}`,
		`{"summary":" Pay it. ","action":"deploy","arguments":{"amount":1,"\u006e":1e2,"big":9007199254740993}}`,
	} {
		status, again, f := ci.do("POST", "/v1/approvals", "k1", same)
		if status != http.StatusOK || again.ID != first.ID {
			t.Errorf("%s: %d %s %s", same, status, again.ID, f.Message)
		}
		if again := ci.call("request_approval", `{"idempotency_key":"k1",`+same[1:]); again.ID != first.ID {
			t.Errorf("over MCP %s is %s", same, again.ID)
		}
	}
	for _, other := range []string{
		`{` + begin + `{"amount":1,"n":1e2,"big":9007199254740992}}`,
		`{` + begin + `{"amount":"1","n":1e2,"big":9007199254740993}}`,
		`{` + begin + `{"amount":1,"n":1e2,"big":9007199254740993},"risk":"destructive"}`,
	} {
		status, _, f := ci.do("POST", "/v1/approvals", "k1", other)
		if status != http.StatusBadRequest || !strings.Contains(f.Message, "used for another request") {
			t.Errorf("%s: %d %s", other, status, f.Message)
		}
	}
	empty := ci.must("POST", "/v1/approvals", "k2", `{"action":"deploy","summary":"Go.","expires":"90m"}`)
	said := `{"action":"deploy","summary":"Go.","arguments":{},"expires":"1h30m","risk":"write"}`
	if again := ci.must("POST", "/v1/approvals", "k2", said); again.ID != empty.ID {
		t.Errorf("without arguments it is %s and %s", empty.ID, again.ID)
	}
	asked := ci.must("POST", "/v1/approvals", "k3",
		`{"question":"Which one?","schema":{"type":"integer","minimum":1.0}}`)
	said = `{"action":"ask","question":"Which one?","schema":{"minimum":1,"type":"integer"}}`
	if again := ci.must("POST", "/v1/approvals", "k3", said); again.ID != asked.ID {
		t.Errorf("the question is %s and %s", asked.ID, again.ID)
	}
}

// TestARequestOfAnEarlierGatehouseIsRecognized by the digest that it was stored with.
func TestARequestOfAnEarlierGatehouseIsRecognized(t *testing.T) {
	t.Parallel()
	s := serveAgents(t, nil)
	said := `{"action":"deploy","summary":"Deploy it.","arguments":{"version":1.0},"risk":"write"}`
	ci := agentClient{t, s.base, ciToken}
	asked := ci.must("POST", "/v1/approvals", "k1", said) // the id of the key is the same in every database
	s.stop()

	db := "sqlite:" + filepath.Join(t.TempDir(), "g.db")
	store, err := storage.Open(t.Context(), db, storage.Options{NewID: uuid.NewString})
	noErr(t, err)
	call := core.Call{Tool: "external.ci.deploy", Arguments: json.RawMessage(`{"version":1.0}`), Summary: "Deploy it."}
	if call.Digest, err = tool.Digest(call.Tool, call.Arguments); err != nil {
		t.Fatal(err)
	}
	request, err := tool.Digest("request", json.RawMessage(said))
	noErr(t, err)
	who := core.Actor{ID: "openharness:ci", Name: "ci"}
	_, _, err = store.OpenExternal(t.Context(), core.Approval{
		ID: asked.ID, Conversation: core.ConversationID("external:" + who.ID),
		Address: core.Address{Platform: core.CallbackPlatform}, State: core.Open, Call: call, Requester: who,
		External: &core.External{Request: request},
		Rule:     core.Rule{Name: "deployments", Verdict: core.VerdictAsk, Approvers: []string{"slack:U2BOB"}},
	}, nil, 10)
	noErr(t, err)
	noErr(t, store.Close())
	s.settings.set(map[string]string{"GATEHOUSE_DATABASE_URL": db})
	s.start()
	ci = agentClient{t, s.base, ciToken}
	if status, again, f := ci.do("POST", "/v1/approvals", "k1", said); status != http.StatusOK || again.ID != asked.ID {
		t.Errorf("the same request: %d %s %s", status, again.ID, f.Message)
	}
	other := strings.Replace(said, "1.0", "2.0", 1)
	if status, _, _ := ci.do("POST", "/v1/approvals", "k1", other); status != http.StatusBadRequest {
		t.Errorf("another request: %d", status)
	}
}
