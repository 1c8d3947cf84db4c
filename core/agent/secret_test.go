package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
)

// vault is a tool whose schema says what is secret in its arguments. It keeps what it gets, and fails with it.
func vault(got *string) tool.Tool {
	return tool.Tool{
		Name: "safe.vault", Mutating: true,
		Schema: json.RawMessage(`{"type":"object","properties":{
			"pin":{"type":"integer","writeOnly":true},
			"users":{"type":"array","items":{"allOf":[{"properties":{"phrase":{"type":"string",` +
			`"format":"password"}}}]}}}}`),
		Summarize: func(args json.RawMessage) string { return "Store " + string(args) },
		Do: func(_ context.Context, _ string, args json.RawMessage) (string, error) {
			*got = string(args)
			return "", core.Errorf(core.ToolFailed, "The vault refuses %s.", args)
		},
	}
}

const vaultArguments = `{"pin":471147,"users":[{"name":"ann","phrase":"open the barn door"}]}`

var vaultSecrets = []string{"471147", "open the barn door"}

// shows returns which secrets are in a text.
func shows(text string) (found []string) {
	for _, s := range vaultSecrets {
		if strings.Contains(text, s) {
			found = append(found, s)
		}
	}
	return found
}

func TestLaw8_SecretsOfTheSchemaReachTheToolAndNobodyElse(t *testing.T) {
	got := ""
	model := &script{lines: []core.Message{
		{ToolCalls: []core.ToolCall{use("1", "safe.vault", vaultArguments)}},
		{Content: core.Text("done")},
	}}
	r := newRoom(t, model, ask, vault(&got))
	asked := r.say("store it")
	call := r.asked(asked).Call
	if string(call.Arguments) != vaultArguments || strings.Join(call.Secret, " ") != "/pin /users/0/phrase" {
		t.Fatalf("the approval has the call %s with the secrets %q", call.Arguments, call.Secret)
	}
	if call.Summary != `Store {"pin":••••••,"users":[{"name":"ann","phrase":"••••••"}]}` ||
		len(shows(texts(asked))) > 0 {
		t.Errorf("people read %q and %q", call.Summary, texts(asked))
	}
	paused := string(r.evidence)
	done, ok := r.decide(asked, core.Approved, "").(core.Completed)
	if !ok || got != vaultArguments {
		t.Fatalf("the tool got %q, %+v", got, done)
	}
	if all := paused + string(r.evidence); len(shows(all)) > 0 {
		t.Errorf("%q are in the evidence:\n%s", shows(all), all)
	}
	if in,
		_ := r.lastEvidence(); in.Evidence.ToolResults[0].ErrorMessage != `The vault refuses {"pin":••••••,`+
		`"users":[{"name":"ann","phrase":"••••••"}]}.` {
		t.Errorf("the evidence says %q", in.Evidence.ToolResults[0].ErrorMessage)
	}
	// The model reads its own call, and the tool's answer, as they were.
	if history := asked.(core.Suspended).Pending[0]; string(history.ToolCalls[0].Arguments) != vaultArguments {
		t.Errorf("the history has %s", history.ToolCalls[0].Arguments)
	}
	if result := done.Replies[0]; len(shows(result.Content.String())) != len(vaultSecrets) {
		t.Errorf("the model reads %s", result.Content)
	}
}

func TestLaw8_SecretsOfTheSchemaAreNotLogged(t *testing.T) {
	var log bytes.Buffer
	got := ""
	read, panics := vault(&got), vault(&got)
	read.Mutating, panics.Mutating, panics.Name = false, false, "safe.panics"
	panics.Do = func(_ context.Context, _ string, args json.RawMessage) (string, error) {
		panic("what is " + string(args))
	}
	model := &script{lines: []core.Message{
		{ToolCalls: []core.ToolCall{use("1", "safe.vault", vaultArguments), use("2", "safe.panics", vaultArguments)}},
		{Content: core.Text("done")},
	}}
	loop := agent.Loop{
		Name: "demo", Model: model, NewID: func() string { return "a" }, Policy: allowed{},
		Executor: &tool.Executor{
			Tools: tool.NewRegistry(read, panics),
			Log:   slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		},
	}
	g, err := loop.Graph()
	if err != nil {
		t.Fatal(err)
	}
	mem := graph.NewMemory()
	h, err := chat.New(chat.Options{Graph: g, Stores: graph.Stores{Sessions: mem, Pauses: mem}})
	if err != nil {
		t.Fatal(err)
	}
	h.Send(t.Context(), "s@1", core.Message{Role: core.User, Content: core.Text("store it")})
	if text := log.String(); len(shows(text)) > 0 || !strings.Contains(text, "tool failed") ||
		!strings.Contains(text, "tool panicked") || !strings.Contains(text, "ann") {
		t.Errorf("the log is\n%s", text)
	}
}

// allowed is a policy that allows each call.
type allowed struct{ agent.Policy }

func (allowed) Rule(core.Turn, core.Call) core.Rule { return core.Rule{Verdict: core.VerdictAllow} }
