package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatehouse/approvals"
	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// accounts are those of the people of random policies: ann has two, and ci is an agent, too.
var accounts = []string{"slack:U1ANN", "openharness:ann", "slack:U2BOB", "openharness:ci"}

// randomRules draws the text of a policy whose rules ask some of these people.
func randomRules(t *rapid.T) string {
	text := "version: 1\npeople:\n  ann: [slack:U1ANN, openharness:ann]\ngroups:\n  desk: [person:ann, " +
		"slack:U2BOB]\nrules:\n"
	for i := range rapid.IntRange(1, 3).Draw(t, "rules") {
		text += fmt.Sprintf("  - name: r%d\n", i)
		if glob := rapid.SampledFrom([]string{"", "note.add", "external.*", "external.ci.a", "*.a*"}).Draw(t,
			"tools"); glob != "" {
			text += fmt.Sprintf("    tools: [%q]\n", glob)
		}
		if when := rapid.SampledFrom(
			[]string{
				"", "args.n > 1", `requester.person == "ann"`, `"desk" in requester.groups`,
				`args.n < 0 || risk == "write"`,
			}).Draw(t, "when"); when != "" {
			text += "    when: '" + when + "'\n"
		}
		action := rapid.SampledFrom([]string{"allow", "ask", "ask", "ask", "deny"}).Draw(t, "action")
		if text += "    action: " + action + "\n"; action != "ask" {
			continue
		}
		who := rapid.SliceOfNDistinct(rapid.SampledFrom(append([]string{"person:ann", "group:desk"}, accounts...)), 1,
			4, rapid.ID).Draw(t, "approvers")
		text += fmt.Sprintf("    approvers: [%s]\n    quorum: %d\n    self: %t\n    notify: [dm]\n",
			strings.Join(who, ", "), rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "quorum"), rapid.Bool().Draw(t, "self"))
	}
	return text
}

// explains is what gatehouse approvals explain prints, by the names of its lines.
func explains(t *rapid.T, file, name, args, as, by string) map[string]string {
	var out, said bytes.Buffer
	line := []string{
		"approvals", "explain", "--policy", file, "--tool", name, "--risk", "write", "--args", args, "--as", as,
		"--by", by,
	}
	if code := run(t.Context(), line, cli.Stdio{In: strings.NewReader(""), Out: &out, Err: &said},
		platforms); code != 0 {
		t.Fatalf("explain ends with %d: %s", code, said.String())
	}
	lines := map[string]string{}
	for _, line := range strings.Split(out.String(), "\n") {
		key, value, _ := strings.Cut(line, ":")
		lines[key] = strings.TrimSpace(value)
	}
	return lines
}

// TestExplainTheCardAndWhatHappensAgree: for random policies and calls of a tool and of an agent, explain says what
// then happens: whether the call runs, is refused or waits, who may decide, with the sentence of the card, and that as
// many as are needed can approve it.
func TestExplainTheCardAndWhatHappensAgree(t *testing.T) {
	store, err := storage.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "g.db"),
		storage.Options{NewID: cli.NewID})
	noErr(t, err)
	t.Cleanup(func() { _ = store.Close() })
	folder := t.TempDir()
	happened, n := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		text := randomRules(t)
		file := filepath.Join(folder, fmt.Sprintf("p%d.yaml", n))
		noErr(t, os.WriteFile(file, []byte(text), 0o600))
		cfg := settings.Config{Drivers: platforms()}
		if cfg.Policy, err = policy.Open(file, policy.Defaults{Platforms: cfg.Platforms()}); err != nil {
			happened["refused at load"]++
			return
		}
		name := rapid.SampledFrom([]string{"note.add", "external.ci.a", "external.ann.a", "external.ann.b"}).Draw(t,
			"tool")
		as := rapid.SampledFrom(accounts).Draw(t, "as")
		if owner, agent := strings.CutPrefix(name, "external."); agent { // an agent asks as its token
			owner, _, _ = strings.Cut(owner, ".")
			as = "openharness:" + owner
		}
		args := rapid.SampledFrom([]string{`{"n":0}`, `{"n":2}`, `{"n":-1}`, `{}`}).Draw(t, "args")
		one := askFor(t, cfg, store, name, args, core.Actor{ID: as}, fmt.Sprint("a", n))
		explained := explains(t, file, name, args, as, "slack:U9")
		switch {
		case explained["action"] == "deny" || explained["happens"] != "":
			if happened["refused"]++; one.err == nil ||
				explained["why"] != "" && !strings.Contains(core.MessageOf(one.err), explained["why"]) {
				t.Fatalf("explain says %v, and it is %+v, %v\n%s", explained, one.a, one.err, text)
			}
			return
		case one.err != nil:
			t.Fatalf("explain says %v, and it is refused: %v\n%s", explained, one.err, text)
		case (explained["action"] == "allow") != (one.a.State == core.Approved):
			t.Fatalf("explain says %v, and it is %s\n%s", explained, one.a.State, text)
		}
		if one.a.State == core.Approved {
			happened["allowed"]++
			return
		}
		happened["asked"]++
		card := one.card()
		if explained["approvers"] != strings.Join(card.Approvers, ", ") ||
			explained["quorum"] != fmt.Sprint(card.Quorum) {
			t.Fatalf("explain says %v, and the card %v, %d\n%s", explained, card.Approvers, card.Quorum, text)
		}
		for _, by := range append([]string{"slack:U9"}, accounts...) {
			who := core.Actor{ID: by, Name: by}
			may := explains(t, file, name, args, as, by)["decide"]
			refusal := card.Refusal(who)
			vote := one.vote(who)
			switch {
			case may == by+" may":
				if refusal != nil ||
					vote != nil && core.CategoryOf(vote) != core.ApprovalDecided &&
						!strings.Contains(core.MessageOf(vote), "already voted") {
					t.Fatalf("explain says that %s, the card %v, the vote %v\n%s", may, refusal, vote, text)
				}
			case core.CategoryOf(refusal) != core.NotAllowed || vote == nil:
				t.Fatalf("explain says that %s, the card %v, the vote %v\n%s", may, refusal, vote, text)
			case strings.HasSuffix(may, "who asks may not decide") != strings.HasPrefix(core.MessageOf(refusal),
				"You asked for this yourself"),
				strings.HasSuffix(may, "not an approver") != strings.HasPrefix(core.MessageOf(refusal),
					"You are not an approver"):
				t.Fatalf("explain says that %s, the card %v\n%s", may, refusal, text)
			}
		}
		if got := one.card().State; got != core.Approved {
			t.Fatalf("all have approved it, and it is %s: nobody could decide it\n%s", got, text)
		}
	})
	for _, what := range []string{"refused at load", "refused", "allowed", "asked"} {
		if t.Logf("%s: %d", what, happened[what]); happened[what] == 0 {
			t.Errorf("nothing was %s", what)
		}
	}
}

// askedFor is what became of a call: an approval, or why it was refused.
type askedFor struct {
	a    core.Approval
	err  error
	card func() core.Card
	vote func(who core.Actor) error
}

// askFor asks for a call: that of an agent by the service, as its endpoint does; that of a tool as a turn does.
func askFor(
	t *rapid.T, cfg settings.Config, store *storage.Store, name, args string, who core.Actor, id string,
) *askedFor {
	digest, err := tool.Digest(name, json.RawMessage(args))
	noErr(t, err)
	call := core.Call{Tool: name, Arguments: json.RawMessage(args), Digest: digest, Summary: "Do it."}
	if policy.Requested(name) {
		known := cfg.Platforms()
		for i := range known {
			known[i].Configured = true // so that direct messages go out
		}
		service := approvals.NewService(store, store, known...).LetAgentsAsk(foreign(cfg, store))
		one := &askedFor{
			card: func() core.Card {
				card, err := service.Card(t.Context(), core.ApprovalID(id), false)
				noErr(t, err)
				return card
			},
			vote: func(who core.Actor) error {
				_, err := service.Vote(t.Context(), core.Click{Approval: core.ApprovalID(id), Choice: core.Approve},
					who, 0)
				return err
			},
		}
		one.a, _, one.err = service.Request(t.Context(),
			core.AgentRequest{
				ID: core.ApprovalID(id), Requester: who, Call: call, External: core.External{Request: id},
			})
		return one
	}
	one := &askedFor{a: core.Approval{
		ID: core.ApprovalID(id), Call: call, Requester: who, State: core.Open, CreatedAt: time.Now(),
	}}
	one.card = func() core.Card { return approvals.CardOf(one.a, nil) }
	one.vote = func(who core.Actor) error {
		decided, err := one.a.Decide(core.Decision{Vote: &core.Vote{Actor: who, Choice: core.Approve}}, time.Now())
		one.a = decided.Approval
		return err
	}
	switch one.a.Rule = newLoggedPolicy(cfg.Policy, nil).Rule(core.Turn{Actor: who}, call); one.a.Rule.Verdict {
	case core.VerdictAllow:
		one.a.State = core.Approved
	case core.VerdictDeny:
		one.err = core.Errorf(core.PolicyDenied, "%s", one.a.Rule.Why)
	}
	return one
}
