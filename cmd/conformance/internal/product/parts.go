package product

import (
	"context"
	"encoding/json"
	"sync"

	"gatehouse/approvals"
	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// name is the platform's name.
const name = "fixture"

// callDigest binds an approval to the call that stands for a fixture's pause.
var callDigest, _ = tool.Digest(name, json.RawMessage("{}")) // valid JSON

// platform keeps what it receives.
type platform struct {
	mu   sync.Mutex
	sent []core.Delivery
}

var _ core.Platform = (*platform)(nil)

func (*platform) Name() string { return name }

func (*platform) Run(ctx context.Context, _ core.Accept) error {
	<-ctx.Done()
	return nil
}

func (*platform) Parse(_ context.Context, e core.Event) (in core.Input, err error) {
	in.Message = &core.Message{}
	return in, json.Unmarshal(e.Payload, in.Message)
}

func (p *platform) Post(_ context.Context, d core.Delivery) (core.Ref, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, d)
	return core.Ref(d.Key), false, nil
}

func (*platform) Edit(context.Context, core.Ref, core.Delivery) error { return nil }

func (*platform) Find(context.Context, core.Delivery) (core.Found, error) { return core.Found{}, nil }

// take returns what was received since the last call.
func (p *platform) take() []core.Delivery {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.sent
	p.sent = nil
	return out
}

// askingService is the approvals service with a made-up request for every pause, since a fixture's pauses are not about
// tools.
type askingService struct {
	*approvals.Service
	approver core.Actor
}

func (a *askingService) Open(
	turn core.Turn, session core.SessionID, s core.Suspended,
) (core.Approval, []core.Post, bool) {
	s.Descriptor.Approval = &core.ApprovalRequest{
		Call: core.Call{Tool: name, Summary: "Go on.", Arguments: json.RawMessage("{}"), Digest: callDigest},
		Rule: core.Rule{Name: "fixture", Verdict: core.VerdictAsk, Approvers: []string{a.approver.ID}},
	}
	return a.Service.Open(turn, session, s)
}

// faulty is the database with the failures that a fixture injects. Its signals carry a fixture's payload in place of a
// decision.
type faulty struct {
	*storage.Store
	faults evidence.Faults

	mu       sync.Mutex
	payloads map[core.InvocationID]map[string]json.RawMessage
}

// carry sets the payload of an invocation's next signal.
func (f *faulty) carry(id core.InvocationID, payload map[string]json.RawMessage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.payloads == nil {
		f.payloads = map[core.InvocationID]map[string]json.RawMessage{}
	}
	f.payloads[id] = payload
}

// Claim puts the fixture's payload into signals.
func (f *faulty) Claim(ctx context.Context, r core.ClaimRequest) ([]core.Claim, error) {
	claims, err := f.Store.Claim(ctx, r)
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range claims {
		e := &claims[i].Event
		var p core.SignalPayload
		own, carries := f.payloads[e.Invocation]
		if _, signal := e.Body.(core.SignalEvent); !signal || !carries || json.Unmarshal(e.Payload, &p) != nil {
			continue
		}
		p.Payload = own
		if e.Payload, err = json.Marshal(p); err != nil {
			return claims, err
		}
	}
	return claims, err
}

// LoadSession fails if the fixture injects it.
func (f *faulty) LoadSession(ctx context.Context, id core.SessionID, w core.Writer) (*core.SessionRecord, error) {
	if err := f.faults.Of(evidence.Load); err != nil {
		return nil, err
	}
	return f.Store.LoadSession(ctx, id, w)
}

// SaveSession fails if the fixture injects it.
func (f *faulty) SaveSession(ctx context.Context, c core.Claim, rec *core.SessionRecord) error {
	if err := f.faults.Of(evidence.Save); err != nil {
		return err
	}
	return f.Store.SaveSession(ctx, c, rec)
}

// Finish fails if it saves a session and the fixture injects a failure of saves.
func (f *faulty) Finish(ctx context.Context, end core.Finish) error {
	if end.Session != nil {
		if err := f.faults.Of(evidence.Save); err != nil {
			return err
		}
	}
	return f.Store.Finish(ctx, end)
}

// LoadSession reads what is stored, without the injected failures.
func (g *Gateway) LoadSession(ctx context.Context, id core.SessionID) (*core.SessionRecord, error) {
	return g.store.Store.LoadSession(ctx, id, core.Writer{})
}

// LoadPaused reads the record that an invocation or a signal waits with; nil if none waits.
func (g *Gateway) LoadPaused(
	ctx context.Context, id core.InvocationID, signal core.SignalID,
) (*core.PausedRecord, error) {
	if id == "" && signal == "" {
		return nil, nil
	}
	return g.store.LoadPaused(ctx, id, signal)
}
