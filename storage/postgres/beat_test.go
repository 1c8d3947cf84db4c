package postgres_test

import (
	"context"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/postgres"
	"gatehouse/storage/postgres/postgrestest"
)

// TestBeatNeedsNoFreeConnection: a process whose connections are all in use, as by transactions that wait for a lock,
// is not taken for dead.
func TestBeatNeedsNoFreeConnection(t *testing.T) {
	s, err := postgres.OpenStore(t.Context(), postgrestest.New(t), postgres.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range s.Pool().Config().MaxConns {
		conn, err := s.Pool().Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
	}
	if err := s.Beat(t.Context(), "busy"); err != nil {
		t.Error(err)
	}
}

// TestClaimOfAnOwnerThatIsTakenForDead: what a process claims while another one takes it for dead is claimed again if
// it does die.
func TestClaimOfAnOwnerThatIsTakenForDead(t *testing.T) {
	url := postgrestest.New(t)
	open := func() *sqlstore.Store {
		s, err := postgres.Open(t.Context(), url, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	a, b := open(), open()
	owner, err := a.Register(t.Context(), "silent", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Accept(t.Context(), core.Event{
		Platform: "room", ID: "1", Conversation: "room:1", Body: core.MessageEvent{}, Payload: []byte(`"x"`),
		Actor: core.Actor{ID: "room:ann"},
	}); err != nil {
		t.Fatal(err)
	}
	beat := func(n int) {
		for range n {
			if err := b.Beat(t.Context(), "other"); err != nil {
				t.Fatal(err)
			}
		}
	}
	beat(4) // with the next one, the owner is taken for dead
	buried := make(chan error, 1)
	slow := a.WithEngine(func(e sqlstore.Engine) sqlstore.Engine {
		return beaten{Engine: e, beat: func(ctx context.Context) {
			began := make(chan struct{})
			go func() {
				close(began)
				buried <- b.Beat(ctx, "other")
			}()
			<-began
			select { // it waits for the claim, or it is too late
			case err := <-buried:
				buried <- err
			case <-time.After(200 * time.Millisecond):
			}
		}}
	})
	ask := core.ClaimRequest{Owner: owner, Limit: 1, Scopes: []core.Scope{{Platform: "room"}}}
	if claims, err := slow.Claim(t.Context(), ask); err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	if err := <-buried; err != nil {
		t.Fatal(err)
	}
	beat(10)
	ask.Owner = "other"
	if claims, err := b.Claim(t.Context(), ask); err != nil || len(claims) != 1 {
		t.Errorf("the event of the process that ended is held forever: %v %v", claims, err)
	}
}

// beaten is an engine that beats for another process before each commit.
type beaten struct {
	sqlstore.Engine
	beat func(context.Context)
}

func (e beaten) Write(ctx context.Context, work sqlstore.Work) error {
	return e.Engine.Write(ctx, func(run sqlstore.Runner, now time.Time) error {
		err := work(run, now)
		e.beat(context.WithoutCancel(ctx))
		return err
	})
}
