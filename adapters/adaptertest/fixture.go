package adaptertest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/core"
)

// timeout is the limit for anything that should happen at once.
const timeout = 10 * time.Second

// fixture is a running platform. The test takes the place of the store.
type fixture struct {
	core.Platform
	out    Fake
	events chan core.Event // accepted events
	failed chan core.Event // events that the store refused

	mu   sync.Mutex
	fail int // how many more accepts fail; negative: all
	seq  int64
	ack  func() // called inside accept
}

// start runs the platform for the duration of one test. At the test's end it stops the platform and checks for leaked
// goroutines.
func start(t *testing.T, h Harness) *fixture {
	t.Helper()
	before := goleak.IgnoreCurrent()
	r := &fixture{events: make(chan core.Event, 256), failed: make(chan core.Event, 256)}
	r.Platform, r.out = h.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx, r.accept) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Run gave %v at the end of its context, want nil", err)
			}
		case <-time.After(timeout):
			t.Error("Run did not end with its context")
		}
		r.out.Close()
		goleak.VerifyNone(t, before)
	})
	return r
}

func (r *fixture) accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ack != nil {
		r.ack()
	}
	if r.fail != 0 {
		r.fail--
		r.failed <- e
		return core.Receipt{}, core.Errorf(core.StoreBusy, "The store is busy.")
	}
	r.seq++
	r.events <- e
	return core.Receipt{Seq: r.seq, Fresh: true}, nil
}

// failStore makes the next accepts fail.
func (r *fixture) failStore(times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail = times
}

func next(t *testing.T, from chan core.Event, what string) core.Event {
	t.Helper()
	select {
	case e := <-from:
		return e
	case <-time.After(timeout):
		t.Fatalf("%s did not come", what)
	}
	return core.Event{}
}

// say makes the person write something and returns the event.
func (r *fixture) say(t *testing.T, text string) core.Event {
	t.Helper()
	r.out.Say(t, text)
	return next(t, r.events, "the event of the message")
}

// post sends all parts of a post.
func (r *fixture) post(t *testing.T, d core.Delivery) []core.Ref {
	t.Helper()
	var refs []core.Ref
	for more := true; more; d.Part++ {
		if d.Part > 1000 {
			t.Fatal("a post has more than a thousand parts")
		}
		ref, again, err := r.send(t, d)
		if err != nil {
			t.Fatalf("Post of part %d: %v", d.Part, err)
		}
		if ref == "" {
			t.Fatalf("Post of part %d gave no ref", d.Part)
		}
		refs, more = append(refs, ref), again
	}
	return refs
}

// send posts one part, and tries again each time the platform's own rate limit asks to wait.
func (r *fixture) send(t *testing.T, d core.Delivery) (core.Ref, bool, error) {
	for {
		ref, more, err := r.Post(t.Context(), d)
		if core.CategoryOf(err) != core.DeliveryNotYet {
			return ref, more, err
		}
		select {
		case <-time.After(core.RetryAfterOf(err)):
		case <-t.Context().Done():
			return "", false, err
		}
	}
}

// delivery returns a post to this conversation.
func (r *fixture) delivery(key string, kind core.PostKind, text string) core.Delivery {
	to, conversation := r.out.Conversation()
	return core.Delivery{Post: core.Post{Key: key, To: to, Conversation: conversation, Kind: kind, Text: text}}
}

// card returns the delivery of an open approval's card.
func (r *fixture) card(id string) core.Delivery {
	d := r.delivery("card/"+id, core.PostCard, "")
	d.Approval = core.ApprovalID(id)
	d.Card = &core.Card{
		Approval: d.Approval, State: core.Open, Tool: "note.add", Summary: "Add the note " + id,
		Arguments: `{"text":"` + id + `"}`,
		Requester: "Ann", Approvers: []string{"local"}, Quorum: 1, CreatedAt: time.Now(),
	}
	return d
}

// question returns the delivery of an open question's card.
func (r *fixture) question(id, schema string) core.Delivery {
	d := r.card(id)
	d.Card.Tool, d.Card.Summary, d.Card.Question = "people.ask",
		"Question "+id, ask("Question "+id+"\nits second line", schema)
	return d
}

// shows fails the test unless all the words can be read on the platform.
func (r *fixture) shows(t *testing.T, words ...string) {
	t.Helper()
	seen := r.out.Shown()
	for _, w := range words {
		if !strings.Contains(seen, w) {
			t.Errorf("%q can't be read on the platform; there is:\n%s", w, seen)
		}
	}
}
