package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errPlain = errors.New("secret: db password is hunter2")
	approved = graph.Field("approved", graph.Replace[bool]())
)

func say(role core.Role, text string) core.Message {
	return core.Message{Role: role, Content: core.Text(text)}
}

func answer(texts ...string) graph.Node {
	return func(context.Context, graph.State) (graph.Update, error) {
		var u graph.Update
		for _, text := range texts {
			u = append(u, graph.Messages.Add(say(core.Assistant, text)))
		}
		return u, nil
	}
}

func pause(signal string) graph.Node {
	return func(ctx context.Context, _ graph.State) (graph.Update, error) {
		return nil, graph.Suspend(ctx, core.Descriptor{SignalID: core.SignalID(signal)})
	}
}

func fails(err error) graph.Node {
	return func(context.Context, graph.State) (graph.Update, error) { return nil, err }
}

// line is a chat graph of nodes one after the other.
func line(nodes ...graph.Node) *graph.Builder {
	b := graph.New("chat", "1").Fields(graph.Messages, approved).Entry("a")
	names := []string{"a", "b", "c", "d", "e"}[:len(nodes)]
	for i, n := range nodes {
		b.Node(names[i], n)
		if i > 0 {
			b.Edge(names[i-1], names[i])
		}
	}
	return b.Edge(names[len(names)-1], graph.END)
}

func compile(t *testing.T, b *graph.Builder) *graph.Graph {
	t.Helper()
	g, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// rig is a harness and what can be seen of it.
type rig struct {
	*chat.Harness
	store *store
}

// store counts loads, which may fail, and keeps who saved last.
type store struct {
	*graph.Memory
	loads atomic.Int32
	load  error
	saved atomic.Value // core.InvocationID
}

func (s *store) Save(ctx context.Context, rec *core.SessionRecord, o core.SaveOptions) error {
	s.saved.Store(rec.Writer.Invocation)
	return s.Memory.Save(ctx, rec, o)
}

func (s *store) Load(ctx context.Context, id core.SessionID) (*core.SessionRecord, error) {
	if s.loads.Add(1); s.load != nil {
		return nil, s.load
	}
	return s.Memory.Load(ctx, id)
}

func newRig(t *testing.T, b *graph.Builder, change ...func(*chat.Options)) *rig {
	t.Helper()
	r := &rig{store: &store{Memory: graph.NewMemory()}}
	o := chat.Options{Graph: compile(t, b), Stores: graph.Stores{Sessions: r.store, Pauses: r.store}}
	for _, c := range change {
		c(&o)
	}
	var err error
	if r.Harness, err = chat.New(o); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) history(t *testing.T, id core.SessionID) []string {
	t.Helper()
	rec, err := r.store.Memory.Load(t.Context(), id)
	if err != nil || rec == nil {
		return nil
	}
	all, err := rec.Messages.From(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return texts(all)
}

func texts(ms []core.Message) []string {
	out := []string{}
	for _, m := range ms {
		out = append(out, m.Content.String())
	}
	return out
}

func completed(t *testing.T, o core.Outcome) core.Completed {
	t.Helper()
	c, ok := o.(core.Completed)
	if !ok {
		t.Fatalf("outcome %+v, want completed", o)
	}
	return c
}

func suspended(t *testing.T, o core.Outcome) core.Suspended {
	t.Helper()
	s, ok := o.(core.Suspended)
	if !ok {
		t.Fatalf("outcome %+v, want suspended", o)
	}
	return s
}

func errored(t *testing.T, o core.Outcome, c core.Category) core.Errored {
	t.Helper()
	e, ok := o.(core.Errored)
	if !ok || e.Category != c {
		t.Fatalf("outcome %+v, want %s", o, c)
	}
	if e.Bucket != core.BucketOf(c) || e.Reply.Role != core.System || e.Reply.Content.String() == "" {
		t.Fatalf("bucket %s, reply %+v", e.Bucket, e.Reply)
	}
	return e
}

func raw(pairs map[string]string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for k, v := range pairs {
		out[k] = json.RawMessage(v)
	}
	return out
}

func TestSendReturnsTheNewMessages(t *testing.T) {
	r := newRig(t, line(answer("yo", "yo"), answer("yo")))
	for i := range 3 {
		out := completed(t, r.Send(t.Context(), "s", say(core.User, "yo")))
		if got := texts(out.Replies); !slices.Equal(got, []string{"yo", "yo", "yo"}) {
			t.Errorf("turn %d: replies %v", i, got)
		}
	}
	if got := r.history(t, "s"); len(got) != 12 {
		t.Errorf("history %v", got)
	}
}

func TestAnEmptyTailIsAList(t *testing.T) {
	quiet := func(context.Context, graph.State) (graph.Update, error) { return nil, nil }
	out := completed(t, newRig(t, line(quiet)).Send(t.Context(), "s", say(core.User, "psst")))
	if out.Replies == nil || len(out.Replies) != 0 {
		t.Errorf("replies %#v", out.Replies)
	}
}

func TestTheCallerMayFixTheInvocation(t *testing.T) {
	r := newRig(t, line(answer("hi")))
	for range 2 { // a second attempt writes over the first one's rows
		completed(t, r.Send(t.Context(), "s", say(core.User, "yo"), chat.WithInvocation("inv")))
	}
	if got := r.history(t, "s"); !slices.Equal(got, []string{"yo", "hi"}) ||
		r.store.saved.Load() != core.InvocationID("inv") {
		t.Errorf("history %v of %q", got, r.store.saved.Load())
	}
}

func TestMalformedInputIsRefusedBeforeAnyRead(t *testing.T) {
	r := newRig(t, line(answer("hi")))
	e := errored(t, r.Send(t.Context(), "s", say(core.ToolRole, "42")), core.ChatMessageShapeInvalid)
	if !strings.Contains(e.Reply.Content.String(), "tool_call_id") {
		t.Errorf("reply %q", e.Reply.Content)
	}
	errored(t, r.Send(t.Context(), "", say(core.User, "yo")), core.HarnessSessionUnresolved)
	errored(t, r.Send(t.Context(), "", core.Message{}), core.HarnessSessionUnresolved)
	if r.store.loads.Load() != 0 {
		t.Errorf("%d loads", r.store.loads.Load())
	}
}

func TestReplies(t *testing.T) {
	for name, tc := range map[string]struct {
		node     graph.Node
		category core.Category
		text     string
	}{
		"transient": {
			fails(core.Errorf(core.ProviderUnavailable, "upstream is away")), core.ProviderUnavailable,
			"I had trouble responding. Try again in a moment.",
		},
		"plain": {fails(errPlain), core.NodeException, "I had trouble responding. Try again in a moment."},
		"panic": {func(context.Context, graph.State) (graph.Update, error) {
			panic("secret")
		}, core.NodeException, "I had trouble responding. Try again in a moment."},
		"correct it": {
			fails(core.Wrap(core.ProviderInvalidRequest, errPlain, "context length exceeds maximum.")),
			core.ProviderInvalidRequest,
			"That request couldn't be processed: context length exceeds maximum. Please adjust your message and try " +
				"again.",
		},
		"no words": {
			fails(core.Wrap(core.ProviderInvalidRequest, errPlain, "")), core.ProviderInvalidRequest,
			"That request couldn't be processed: it was refused (provider_invalid_request). Please adjust your " +
				"message and try again.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, line(answer("lost"), tc.node))
			e := errored(t, r.Send(t.Context(), "s", say(core.User, "yo")), tc.category)
			if got := e.Reply.Content.String(); got != tc.text {
				t.Errorf("reply %q", got)
			}
			if e.Err == nil || r.history(t, "s") != nil {
				t.Errorf("err %v, history %v", e.Err, r.history(t, "s"))
			}
		})
	}
	r := newRig(t, line(answer("hi")))
	r.store.load = errPlain
	e := errored(t, r.Send(t.Context(), "s", say(core.User, "yo")), core.SessionLoadFailed)
	if got := e.Reply.Content.String(); got != "This conversation can't continue. Please start a new one." ||
		!errors.Is(e.Err, errPlain) {
		t.Errorf("reply %q, err %v", got, e.Err)
	}
}

func TestRepliesCanBeReworded(t *testing.T) {
	own := chat.Replies{Transient: "Pardon?", Correctable: "No: {diagnostic}!"}
	r := newRig(t, line(fails(core.Errorf(core.ProviderInvalidRequest, "too long"))), func(o *chat.Options) {
		o.Replies = own
	})
	e := errored(t, r.Send(t.Context(), "s", say(core.User, "yo")), core.ProviderInvalidRequest)
	if got := e.Reply.Content.String(); got != "No: too long!" {
		t.Errorf("reply %q", got)
	}
}

func TestNewRefusesInvalidOptions(t *testing.T) {
	m := graph.NewMemory()
	g := compile(t, line(answer("hi")))
	plain := compile(t, graph.New("plain", "1").Fields(approved).Node("a", answer()).Entry("a").Edge("a", graph.END))
	scratch := compile(t, line(answer("hi")).Session("approved"))
	both := graph.Stores{Sessions: m, Pauses: m}
	for name, o := range map[string]chat.Options{
		"no graph":             {Stores: both},
		"no messages":          {Graph: plain, Stores: both},
		"messages not kept":    {Graph: scratch, Stores: both},
		"diagnostic is hidden": {Graph: g, Stores: both, Replies: chat.Replies{Correctable: "Something is wrong."}},
	} {
		if _, err := chat.New(o); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, stores := range map[string]graph.Stores{
		"no session store": {Pauses: m}, "no pause store": {Sessions: m},
	} {
		h, err := chat.New(chat.Options{Graph: g, Stores: stores})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		errored(t, h.Send(t.Context(), "s", say(core.User, "yo")), core.Invalid)
		errored(t, h.Resume(t.Context(), chat.Signal{SignalID: "x"}), core.Invalid)
	}
}
