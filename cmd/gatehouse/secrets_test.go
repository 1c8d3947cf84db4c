package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// TestCommandsMaskACallWithoutApproval: the schemas of the agent's tools say what is secret in calls that nobody was
// asked for.
func TestCommandsMaskACallWithoutApproval(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	url := sqliteFile.make(t)
	t.Setenv("GATEHOUSE_DATABASE_URL", url)
	builtIn := newTools
	defer func() { newTools = builtIn }()
	newTools = func(settings.Config, *storage.Store) *tool.Registry {
		look := func(context.Context, string, json.RawMessage) (string, error) { return "", nil }
		return tool.NewRegistry(
			tool.Tool{
				Name:   "test.look",
				Schema: json.RawMessage(`{"type":"object","properties":{"pin":{"type":"integer","writeOnly":true}}}`),
				Do:     look,
			})
	}
	store, err := storage.Open(t.Context(), url, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s := newSeeder(t.Context(), store)
	err = s.turn("e1", "look it up", func(c core.Claim) core.Finish {
		call := core.ToolCall{ID: "c1", Name: "test.look", Arguments: json.RawMessage(`{"pin":471147}`)}
		return core.Finish{
			End: core.End{Kind: core.EndReplied},
			Changes: core.Changes{
				Session: s.session(c, core.Message{Role: core.Assistant, ToolCalls: []core.ToolCall{call}}),
			},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{
		"turns show 1", "turns show 1 --json", "sessions show console:demo", "sessions show console:demo --json",
	} {
		code, out, errs := gatehouse(t, strings.Fields(command)...)
		if code != cli.ExitDone || strings.Contains(out, "471147") || !strings.Contains(out, "(6 characters hidden)") {
			t.Errorf("%s ends with %d and prints\n%s%s", command, code, out, errs)
		}
	}
}

// TestCommandsMaskWhatTheSchemaHides: every command masks the arguments that the tool's schema said are secret, without
// the tool; one reveals them, and is recorded.
func TestCommandsMaskWhatTheSchemaHides(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	url := sqliteFile.make(t)
	t.Setenv("GATEHOUSE_DATABASE_URL", url)
	store, err := storage.Open(t.Context(), url, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s := newSeeder(t.Context(), store)
	args := json.RawMessage(`{"pin":471147,"users":[{"phrase":"open the barn door"}],"name":"cleo"}`)
	digest, err := tool.Digest("vault", args)
	if err != nil {
		t.Fatal(err)
	}
	err = s.turn("e1", "store it", func(c core.Claim) core.Finish {
		call := core.ToolCall{ID: "c1", Name: "vault", Arguments: args}
		return core.Finish{
			End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
				Session: s.session(c, core.Message{Role: core.User, Content: core.Text("store it")},
					core.Message{Role: core.Assistant, ToolCalls: []core.ToolCall{call}}),
				Paused: &core.PausedRecord{
					Invocation: c.Event.Invocation, Session: c.Session, Descriptor: core.Descriptor{SignalID: "ap-1"},
				},
				Approval: &core.Approval{
					ID: "ap-1", Invocation: c.Event.Invocation, Session: c.Session, Conversation: seedConversation,
					Address: c.Event.Address, State: core.Open,
					Call: core.Call{
						Tool: "vault", Arguments: args, Secret: []string{"/pin", "/users/0/phrase"}, Digest: digest,
						Summary: "Store 471147",
					}, Requester: c.Event.Actor,
				},
			},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	vote := core.Vote{Actor: core.Actor{ID: core.LocalAdmin}, Choice: core.Approve}
	if _, err := store.Decide(t.Context(), core.Decision{Approval: "ap-1", Vote: &vote, Admin: true}); err != nil {
		t.Fatal(err)
	}
	claims, err := store.Claim(t.Context(), core.ClaimRequest{Owner: "seed", Limit: 1, Scopes: s.scope})
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	if _, err := store.BeginIntent(t.Context(), claims[0],
		core.Intent{
			Approval: "ap-1", Invocation: claims[0].Event.Invocation, Tool: "vault", Digest: digest,
		}); err != nil {
		t.Fatal(err)
	}
	if err := store.FinishIntent(t.Context(), claims[0],
		"ap-1", core.ToolResult{Content: "471147 is stored"}); err != nil {
		t.Fatal(err)
	}

	run := func(args ...string) string {
		t.Helper()
		code, out, errs := gatehouse(t, args...)
		if code != cli.ExitDone {
			t.Fatalf("%q ends with %d:\n%s%s", args, code, out, errs)
		}
		return out
	}
	for command, mentions := range map[string]string{
		"approvals list": "Store ••••••", "approvals list --json": "(6 characters hidden)",
		"approvals show ap-1": "•••••• is stored", "approvals show ap-1 --json": "(18 characters hidden)",
		"turns show 1": "vault", "turns show 1 --json": "(6 characters hidden)",
		"sessions show console:demo": "(18 characters hidden)", "sessions show console:demo --json": "vault",
		"approvals log": "settled", "approvals log --json": "settled",
	} {
		out := run(strings.Fields(command)...)
		if strings.Contains(out, "471147") || strings.Contains(out, "barn door") || !strings.Contains(out, mentions) {
			t.Errorf("%s prints\n%s", command, out)
		}
	}
	for _, command := range []string{"approvals show ap-1 --reveal", "approvals show ap-1 --reveal --json"} {
		if out := run(strings.Fields(command)...); !strings.Contains(out, "471147") ||
			!strings.Contains(out, "open the barn door") {
			t.Errorf("%s prints\n%s", command, out)
		}
	}
	if out := run("approvals", "log"); strings.Count(out, audit.Revealed) != 2 {
		t.Errorf("the log is\n%s", out)
	}
	run("approvals", "log", "--verify")
}
