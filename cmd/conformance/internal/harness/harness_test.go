package harness_test

import (
	"context"
	"errors"
	"testing"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/harness"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// rig is a harness with the records of its calls.
type rig struct {
	*harness.Harness
	recorder *evidence.Recorder
	invoked  []evidence.Invoked
}

func newRig(t *testing.T, mode harness.Mode, nodes ...graph.Node) *rig {
	t.Helper()
	b := graph.New("test", "1").Fields(graph.Messages)
	for i, n := range nodes {
		name, next := string(rune('a'+i)), string(rune('b'+i))
		if i == len(nodes)-1 {
			next = graph.END
		}
		b.Node(name, n).Edge(name, next)
	}
	g, err := b.Entry("a").Compile()
	if err != nil {
		t.Fatal(err)
	}
	memory := graph.NewMemory()
	r := &rig{recorder: &evidence.Recorder{}}
	store := &evidence.Store{Sessions: memory, Pauses: memory, Recorder: r.recorder}
	r.Harness = &harness.Harness{
		Graph: g, Mode: mode, Stores: graph.Stores{Sessions: store, Pauses: store},
		Invoked: func(in graph.Invocation, res graph.Result) {
			r.invoked = append(r.invoked, evidence.Invoked{Invocation: in, Result: res})
		},
	}
	return r
}

// loads counts the loads of a session since the last call.
func (r *rig) loads() (n int) {
	for _, e := range r.recorder.Take().Entries {
		if e.What == evidence.Load {
			n++
		}
	}
	return n
}

func nothing(context.Context, graph.State) (graph.Update, error) { return nil, nil }

func pause(ctx context.Context, _ graph.State) (graph.Update, error) {
	return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
}

func TestClassification(t *testing.T) {
	signal := chat.Signal{SignalID: "x"}
	for name, tc := range map[string]struct {
		mode     harness.Mode
		in       harness.Transmission
		path     harness.Path
		category core.Category
	}{
		"nothing": {in: harness.Transmission{}, path: harness.PathNew},
		"new":     {in: harness.Transmission{Intent: harness.NewSession}, path: harness.PathNew},
		"new with an id": {
			in: harness.Transmission{Intent: harness.NewSession, Session: "s"}, path: harness.PathNew,
		},
		"an id": {in: harness.Transmission{Session: "s"}, path: harness.PathExisting},
		"existing": {
			in: harness.Transmission{Intent: harness.ExistingSession, Session: "s"}, path: harness.PathExisting,
		},
		"existing without id": {
			in: harness.Transmission{Intent: harness.ExistingSession}, path: harness.PathExisting,
			category: core.HarnessSessionUnresolved,
		},
		"signal": {
			in: harness.Transmission{Signal: signal}, path: harness.PathSignal, category: core.HarnessCorrelationFailed,
		},
		"signal and session": {
			in: harness.Transmission{Signal: signal, Session: "s"}, category: core.HarnessPathAmbiguous,
		},
		"signal intent": {
			in:   harness.Transmission{Intent: harness.SignalResume, Signal: signal, Session: "s"},
			path: harness.PathSignal, category: core.HarnessCorrelationFailed,
		},
		"signal without id": {
			in: harness.Transmission{Intent: harness.SignalResume}, path: harness.PathSignal,
			category: core.HarnessCorrelationFailed,
		},
		"unknown invocation": {
			in: harness.Transmission{Signal: chat.Signal{Invocation: "i"}}, path: harness.PathSignal,
			category: core.SuspensionRecordInvalid,
		},
		"new and a signal": {
			in: harness.Transmission{Intent: harness.NewSession, Signal: signal}, category: core.HarnessPathAmbiguous,
		},
		"unknown intent": {
			in: harness.Transmission{Intent: "dance", Session: "s"}, category: core.HarnessPathAmbiguous,
		},
		"stateless": {
			mode: harness.Stateless, in: harness.Transmission{Intent: harness.NewSession, Session: "s"},
			path: harness.PathStateless,
		},
		"stateless with signal": {
			mode: harness.Stateless, in: harness.Transmission{Signal: signal}, path: harness.PathStateless,
			category: core.HarnessCorrelationFailed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.mode, nothing)
			got := r.Transmit(t.Context(), tc.in)
			if got.Path != tc.path || got.Category != tc.category {
				t.Fatalf("path %q, category %q (%v)", got.Path, got.Category, got.Err)
			}
			if tc.category != "" {
				if got.Shape != harness.ErrorResponse || got.Status != graph.Errored ||
					got.Body["category"] != tc.category {
					t.Errorf("answer %+v", got)
				}
				return
			}
			in := r.invoked[0].Invocation
			if got.Shape != harness.CompletionResponse || (in.Session == "") != (tc.mode == harness.Stateless) {
				t.Errorf("answer %+v of session %q", got, in.Session)
			}
			if tc.in.Session != "" && tc.mode != harness.Stateless && in.Session != tc.in.Session {
				t.Errorf("session %q", in.Session)
			}
		})
	}
}

func TestStatelessTurnsUseNoSession(t *testing.T) {
	r := newRig(t, harness.Stateless, pause, nothing)
	first := r.Transmit(t.Context(), harness.Transmission{Session: "s"})
	if first.Shape != harness.SuspendedAck || first.Body["signal_id"] != core.SignalID("x") {
		t.Fatalf("answer %+v", first)
	}
	second := r.Transmit(t.Context(),
		harness.Transmission{Signal: chat.Signal{Invocation: r.invoked[0].Result.Invocation}})
	if loads := r.loads(); second.Shape != harness.CompletionResponse || loads != 0 {
		t.Errorf("answer %+v, %d loads", second, loads)
	}
}

func TestErrorResponseFlags(t *testing.T) {
	for category, flag := range map[core.Category]string{
		core.ProviderRateLimit: "retry_safe", core.ProviderInvalidRequest: "user_action_required",
		core.SessionLoadFailed: "intervention_required",
	} {
		r := newRig(t, harness.Sessioned, func(context.Context, graph.State) (graph.Update, error) {
			return nil, core.Errorf(category, "what is wrong")
		})
		got := r.Transmit(t.Context(), harness.Transmission{Session: "s"})
		if got.Body[flag] != true || got.Bucket != core.BucketOf(category) || len(r.invoked) != 1 {
			t.Errorf("%s: %+v", category, got.Body)
		}
		if d, shown := got.Body["diagnostic_message"]; shown != (flag == "user_action_required") ||
			shown && d != "what is wrong" {
			t.Errorf("%s: diagnostic %v", category, d)
		}
	}
}

func TestGeneratedSessionsDiffer(t *testing.T) {
	r := newRig(t, harness.Sessioned, nothing)
	r.Transmit(t.Context(), harness.Transmission{})
	r.Transmit(t.Context(), harness.Transmission{})
	if a, b := r.invoked[0].Result.Session, r.invoked[1].Result.Session; a == "" || a == b {
		t.Errorf("sessions %q and %q", a, b)
	}
}

func TestFailedSubscriptionWithdrawsThePause(t *testing.T) {
	r := newRig(t, harness.Sessioned, pause, nothing)
	r.Register = func(context.Context, core.Suspended) error { return errors.New("no") }
	for i, tc := range []struct {
		in       harness.Transmission
		category core.Category
	}{
		{harness.Transmission{Session: "s"}, core.HarnessSubscriptionFailed},
		{harness.Transmission{Signal: chat.Signal{SignalID: "x"}}, core.HarnessCorrelationFailed},
	} {
		if got := r.Transmit(t.Context(), tc.in); got.Category != tc.category {
			t.Errorf("transmission %d: %s (%v)", i, got.Category, got.Err)
		}
	}
	signal := harness.Transmission{Signal: chat.Signal{Invocation: r.invoked[0].Result.Invocation}}
	if got := r.Transmit(t.Context(), signal); got.Category != core.SuspensionRecordInvalid {
		t.Errorf("%s (%v)", got.Category, got.Err)
	}
}
