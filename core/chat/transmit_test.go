package chat_test

import (
	"testing"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

func TestClassification(t *testing.T) {
	signal := chat.Signal{SignalID: "x"}
	for name, tc := range map[string]struct {
		mode     chat.Mode
		in       chat.Transmission
		path     chat.Path
		category core.Category
	}{
		"nothing":               {in: chat.Transmission{}, path: chat.PathNew},
		"new":                   {in: chat.Transmission{Intent: chat.NewSession}, path: chat.PathNew},
		"new with an id":        {in: chat.Transmission{Intent: chat.NewSession, Session: "s"}, path: chat.PathNew},
		"an id":                 {in: chat.Transmission{Session: "s"}, path: chat.PathExisting},
		"existing":              {in: chat.Transmission{Intent: chat.ExistingSession, Session: "s"}, path: chat.PathExisting},
		"existing without id":   {in: chat.Transmission{Intent: chat.ExistingSession}, path: chat.PathExisting, category: core.HarnessSessionUnresolved},
		"signal":                {in: chat.Transmission{Signal: signal}, path: chat.PathSignal, category: core.HarnessCorrelationFailed},
		"signal and session":    {in: chat.Transmission{Signal: signal, Session: "s"}, category: core.HarnessPathAmbiguous},
		"signal, meant":         {in: chat.Transmission{Intent: chat.SignalResume, Signal: signal, Session: "s"}, path: chat.PathSignal, category: core.HarnessCorrelationFailed},
		"signal without id":     {in: chat.Transmission{Intent: chat.SignalResume}, path: chat.PathSignal, category: core.HarnessCorrelationFailed},
		"unknown invocation":    {in: chat.Transmission{Signal: chat.Signal{Invocation: "i"}}, path: chat.PathSignal, category: core.SuspensionRecordInvalid},
		"new and a signal":      {in: chat.Transmission{Intent: chat.NewSession, Signal: signal}, category: core.HarnessPathAmbiguous},
		"unknown intent":        {in: chat.Transmission{Intent: "dance", Session: "s"}, category: core.HarnessPathAmbiguous},
		"stateless":             {mode: chat.Stateless, in: chat.Transmission{Intent: chat.NewSession, Session: "s"}, path: chat.PathStateless},
		"stateless with signal": {mode: chat.Stateless, in: chat.Transmission{Signal: signal}, path: chat.PathStateless, category: core.HarnessCorrelationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, line(answer("hi")), func(o *chat.Options) { o.Mode = tc.mode })
			got := r.Transmit(t.Context(), tc.in)
			if got.Path != tc.path || got.Category != tc.category {
				t.Fatalf("path %q, category %q (%v)", got.Path, got.Category, got.Err)
			}
			if tc.category != "" {
				if got.Shape != chat.ErrorResponse || got.Status != graph.Errored || got.Body["category"] != tc.category {
					t.Errorf("answer %+v", got)
				}
				return
			}
			in := r.turns[0].Invocation
			if got.Shape != chat.CompletionResponse || (in.Session == "") != (tc.mode == chat.Stateless) {
				t.Errorf("answer %+v of session %q", got, in.Session)
			}
			if tc.in.Session != "" && tc.mode == chat.Sessioned && in.Session != tc.in.Session {
				t.Errorf("session %q", in.Session)
			}
		})
	}
}

func TestStatelessTurnsTouchNoSession(t *testing.T) {
	r := newRig(t, line(pause("x"), answer("hi")), func(o *chat.Options) { o.Mode = chat.Stateless })
	first := r.Transmit(t.Context(), chat.Transmission{Session: "s"})
	if first.Shape != chat.SuspendedAck || first.Body["signal_id"] != core.SignalID("x") {
		t.Fatalf("answer %+v", first)
	}
	second := r.Transmit(t.Context(), chat.Transmission{Signal: chat.Signal{Invocation: first.Result.Invocation}})
	if second.Shape != chat.CompletionResponse || r.store.loads.Load() != 0 {
		t.Errorf("answer %+v, %d loads", second, r.store.loads.Load())
	}
	errored(t, r.Send(t.Context(), "s", say(core.User, "yo")), core.HarnessSessionUnresolved)
}

func TestErrorAnswersSayWhatCanBeDone(t *testing.T) {
	for category, flag := range map[core.Category]string{
		core.ProviderRateLimit: "retry_safe", core.ProviderInvalidRequest: "user_action_required", core.SessionLoadFailed: "intervention_required",
	} {
		r := newRig(t, line(fails(core.Errorf(category, "what is wrong"))))
		got := r.Transmit(t.Context(), chat.Transmission{Session: "s"})
		if got.Body[flag] != true || got.Bucket != core.BucketOf(category) || len(r.turns) != 1 {
			t.Errorf("%s: %+v", category, got.Body)
		}
		if d, shown := got.Body["diagnostic_message"]; shown != (flag == "user_action_required") || shown && d != "what is wrong" {
			t.Errorf("%s: diagnostic %v", category, d)
		}
	}
}

func TestMintedSessionsDiffer(t *testing.T) {
	r := newRig(t, line(answer("hi")))
	a, b := r.Transmit(t.Context(), chat.Transmission{}), r.Transmit(t.Context(), chat.Transmission{})
	if a.Result.Session == "" || a.Result.Session == b.Result.Session {
		t.Errorf("sessions %q and %q", a.Result.Session, b.Result.Session)
	}
}
