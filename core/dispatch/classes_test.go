package dispatch_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/llm"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// never are the classes that no turn of ours can bring about, and why.
var never = map[typestate.Class]string{
	typestate.SchemaInvalid: "a failed call's row has its category, whether it may be tried again, and its " +
		"message, or the category in its place",
	typestate.ResultOrphan: "a result is recorded for the first request that has none; without one it is " +
		"not recorded, and the join stays open",
	typestate.UseMissing:       "a use is recorded with its result",
	typestate.UseWithoutResult: "a use is recorded with its result, and has its digest",
	typestate.InjectionPointMissing: "a render is recorded with its result, and a view each time that the model was " +
		"asked",
	typestate.QueuePolicyViolation: "a turn begins with the row of its one event, and each row gets the policy of " +
		"the turn's own spec",
	typestate.TransportOrderInvalid: "results go into the conversation in the order of their calls, whichever ends " +
		"first; that is recorded where calls overlapped",
	typestate.DecompositionViolation: "only calls that read overlap, and the patterns of a loop are single, chain " +
		"and parallel",
	typestate.ArtifactMissing: "what goes to the approvers is the request and the digest of its call; there is no " +
		"other transfer of a turn",
	typestate.TargetNotAllowed: "a call is handed over to those whom its rule names; who of them may decide is " +
		"looked up at the decision",
	typestate.ReturnPathMissing: "every suspension has its signal, which is the way back",
	typestate.ClaimIDInvalid:    "the governance profile is not claimed, and no other id is given",
	typestate.PackageUnpinned:   "the governance profile is not claimed",
	typestate.PackageMismatch: "the governance profile is not claimed: tools may come and go while a turn waits, " +
		"and the rules and the schema of its call are compared by its policy digest",
}

// exam is a turn that fires classes, and its twin, which fires none.
type exam struct {
	classes   string // of the join check, at the end of the turn or while it waits
	refused   string // the class of the mutation gate, in what the model reads as the result of note.add
	fires     func(t *testing.T) (*bench, int64)
	firesNone func(t *testing.T) (*bench, int64)
}

// turn lets a model answer "go", and bob approve what it asks for.
func turn(t *testing.T, s setup, approvals int) (*bench, int64) {
	b := newBench(t, s)
	e := b.say("room:1", "go")
	for range approvals {
		d := b.heard()
		for d.Kind != core.PostCard {
			d = b.heard()
		}
		b.click("room:1", d.Approval, "room:bob", core.Approve, "")
	}
	b.heard()
	return b, e.Seq
}

// cutting is a tool that says abcdef, of which it keeps abc; an untrue one keeps another text, or adds to the cut.
func cutting(kept, untrue string) tool.Tool {
	return tool.Tool{Name: "test.cut", Do: func(ctx context.Context, _ string, _ json.RawMessage) (string, error) {
		return tool.NoteCut(ctx, "abcdef", kept, "\n[cut]") + untrue, nil
	}}
}

var exams = map[string]exam{
	"a call waits": {
		classes: "tool.join_incomplete tool.result_missing",
		fires:   func(t *testing.T) (*bench, int64) { return turn(t, setup{model: answers{{add("a", "milk")}}}, 0) },
		firesNone: func(t *testing.T) (*bench, int64) {
			return turn(t, setup{model: answers{{add("a", "milk")}}}, 1)
		},
	},
	"the model declines": {
		classes: "protocol.stop_reason_unhandled",
		fires: func(t *testing.T) (*bench, int64) {
			return turn(t, setup{model: ending{answers{{calc("a")}}, llm.FinishFilter}}, 0)
		},
		firesNone: func(t *testing.T) (*bench, int64) {
			return turn(t, setup{model: ending{answers{{calc("a")}}, llm.FinishLength}}, 0)
		},
	},
	"a cut that is not what was cut": {
		classes: "tool.response_truncation_policy_violation",
		refused: "tool.response_truncation_policy_violation",
		fires: func(t *testing.T) (*bench, int64) {
			return turn(t,
				setup{
					model: answers{{called("a", "test.cut", `{}`)}, {add("b", "milk")}},
					tools: []tool.Tool{cutting("abc", "def")},
				}, 0)
		},
		firesNone: func(t *testing.T) (*bench, int64) {
			return turn(t,
				setup{
					model: answers{{called("a", "test.cut", `{}`)}, {add("b", "milk")}},
					tools: []tool.Tool{cutting("abc", "")},
				}, 1)
		},
	},
	"a cut of another text": {
		classes: "tool.response_truncation_policy_violation",
		refused: "tool.response_truncation_policy_violation",
		fires: func(t *testing.T) (*bench, int64) {
			return turn(t,
				setup{
					model: answers{{called("a", "test.cut", `{}`)}, {add("b", "milk")}},
					tools: []tool.Tool{cutting("xyz", "")},
				}, 0)
		},
		firesNone: func(t *testing.T) (*bench, int64) {
			return turn(t,
				setup{
					model: answers{{called("a", "test.cut", `{}`)}, {add("b", "milk")}},
					tools: []tool.Tool{cutting("abc", "")},
				}, 1)
		},
	},
	"free text through a normalizer that is not ours": {
		refused: "protocol.action_mode_invalid",
		fires: func(t *testing.T) (*bench, int64) {
			return turn(t, setup{model: acting{answers{{calc("a")}, {add("b", "milk")}}, "text", "somebody.else.v1"}},
				0)
		},
		firesNone: func(t *testing.T) (*bench, int64) {
			_, ours := agent.Demo{}.Normalizer()
			return turn(t, setup{model: acting{answers{{calc("a")}, {add("b", "milk")}}, "text", ours}}, 1)
		},
	},
	"free text whose first call is the change, through a normalizer that is not ours": {
		refused: "protocol.action_mode_invalid",
		fires: func(t *testing.T) (*bench, int64) {
			return turn(t, setup{model: acting{answers{{add("b", "milk")}}, "text", "somebody.else.v1"}}, 0)
		},
		firesNone: func(t *testing.T) (*bench, int64) {
			_, ours := agent.Demo{}.Normalizer()
			return turn(t, setup{model: acting{answers{{add("b", "milk")}}, "text", ours}}, 1)
		},
	},
	"the rules change while a call waits, twice": {
		refused: string(core.ApprovalStale), // how the gate says mutation.policy_digest_mismatch
		fires: func(t *testing.T) (*bench, int64) {
			return turn(t, setup{model: answers{{add("a", "milk")}}, policy: changing()}, 2)
		},
		firesNone: func(t *testing.T) (*bench, int64) { return turn(t, setup{model: answers{{add("a", "milk")}}}, 1) },
	},
	"the record of the earlier steps is gone": {
		refused: "mutation.use_evidence_missing",
		fires: func(t *testing.T) (*bench, int64) {
			return restarted(t, `update paused set record = json_remove(record, '$.frames[0].state.evidence')`)
		},
		firesNone: func(t *testing.T) (*bench, int64) { return restarted(t, `update paused set record = record`) },
	},
}

// changing is a policy whose rule is another one each time that a call is requested or to run.
func changing() rules {
	var n atomic.Int32
	return func(core.Turn, core.Call) core.Rule {
		return core.Rule{Verdict: core.VerdictAsk, Approvers: []string{"room:bob"}, Vetoes: int(n.Add(1))}
	}
}

// restarted approves a call of a turn in another process, after something was done to the database.
func restarted(t *testing.T, statement string) (*bench, int64) {
	s := setup{model: answers{{add("a", "milk")}}}
	b := newBench(t, s)
	e := b.say("room:1", "go")
	card := b.asked()
	b.ended(e.Seq)
	b.stop()
	db, err := sql.Open("sqlite3", b.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
	s.path = b.path
	b = newBench(t, s)
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	b.heard()
	return b, e.Seq
}

// said is what the model read as the results of a turn's calls.
func (b *bench) said() string {
	var all []string
	for _, m := range b.history("room:1@1") {
		if m.Role == core.ToolRole {
			all = append(all, m.Content.String())
		}
	}
	return strings.Join(all, "\n")
}

// Each class that a turn of ours can bring about has a turn that fires it, and a twin that fires none; the others can't
// occur.
func TestEveryClassOfTheGateIsFiredOrCannotBe(t *testing.T) {
	fired := map[string]bool{}
	for name, x := range exams {
		t.Run(name, func(t *testing.T) {
			b, seq := x.fires(t)
			if x.classes != "" || x.refused != string(typestate.EvidenceMissing) { // that one has no record
				if _, report := b.recorded(seq); classesOf(report) != x.classes {
					t.Errorf("the join check says %q, want %q", classesOf(report), x.classes)
				}
			}
			if x.refused != "" && (!strings.Contains(b.said(), x.refused) || len(b.notes("room:1")) != 0) {
				t.Errorf("the model reads %q, want %s in it; notes %v", b.said(), x.refused, b.notes("room:1"))
			}
			b, seq = x.firesNone(t)
			if _, report := b.recorded(seq); classesOf(report) != "" {
				t.Errorf("the twin: %q", classesOf(report))
			}
			if notes := b.notes("room:1"); x.refused != "" && len(notes) != 1 {
				t.Errorf("the twin's note: %v, the model reads %q", notes, b.said())
			}
		})
		for _, c := range strings.Fields(x.classes +
			" " + strings.Replace(x.refused, string(core.ApprovalStale), string(typestate.PolicyMismatch), 1)) {
			fired[c] = true
		}
	}
	source, err := os.ReadFile(filepath.Join("..", "typestate", "class.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`= "([a-z]+\.[a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	for _, found := range all {
		if why := never[typestate.Class(found[1])]; fired[found[1]] == (why != "") {
			t.Errorf("%s: fired %t, and can't occur because %q", found[1], fired[found[1]], why)
		}
	}
	if len(all) != len(never)+len(fired) {
		t.Errorf("%d classes, of which %d can't occur and %d were fired", len(all), len(never), len(fired))
	}
}

func classesOf(r *typestate.Report) string {
	all := make([]string, len(r.FailureClasses))
	for i, c := range r.FailureClasses {
		all[i] = string(c)
	}
	return strings.Join(all, " ")
}

// A result that was cut has the digest of the whole where it came from, and that of the cut where the model reads it.
func TestACutResultHasBothDigests(t *testing.T) {
	huge := tool.Tool{
		Name: "test.huge", MaxOutput: 10, Do: func(context.Context, string, json.RawMessage) (string, error) {
			return "much more than that", nil
		},
	}
	for name, c := range map[string]struct{ call, whole, shown string }{
		"cut by the tool": {"test.cut", "abcdef", "abc\n[cut]"},
		"not shown":       {"test.huge", "much more than that", ""},
		"whole":           {"demo.calc", "2", "2"},
	} {
		b := newBench(t,
			setup{
				model: answers{{called("a", c.call, `{"expression":"1+1"}`)}},
				tools: []tool.Tool{cutting("abc", ""), huge},
			})
		in, report := b.recorded(b.say("room:1", "go").Seq)
		row := in.Evidence.ToolRender[0]
		if c.shown == "" {
			c.shown = b.said()
		}
		if row.OperatorPayloadDigest != typestate.Digest(c.whole) ||
			row.ReminderRenderDigest != typestate.Digest(c.shown) {
			t.Errorf("%s: %+v", name, row)
		}
		if cut := in.Truncation != nil && in.Truncation.Required && in.Truncation.Valid; cut != (c.whole != c.shown) ||
			!report.JoinClosed {
			t.Errorf("%s: %+v, %v", name, in.Truncation, report.FailureClasses)
		}
	}
}
