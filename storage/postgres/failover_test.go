package postgres_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage/postgres"
	"gatehouse/storage/postgres/postgrestest"
)

// door is one address, as that of a proxy or of a name, that leads to one server at a time.
type door struct {
	net.Listener
	mu   sync.Mutex
	to   string
	open []net.Conn
}

func newDoor(t *testing.T, to string) *door {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{Listener: l, to: to}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { d.lead(in) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		d.leadTo("")
		all.Wait()
	})
	return d
}

func (d *door) lead(in net.Conn) {
	defer in.Close()
	d.mu.Lock()
	to := d.to
	d.mu.Unlock()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	d.mu.Lock()
	d.open = append(d.open, in, out)
	d.mu.Unlock()
	go func() { _, _ = io.Copy(out, in); out.Close() }()
	_, _ = io.Copy(in, out)
}

// leadTo cuts what is open; new connections go to another server.
func (d *door) leadTo(to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.open {
		c.Close()
	}
	d.to, d.open = to, nil
}

// TestFailover: the primary fails, and its synchronous standby takes no writes for a while before it is promoted. All
// calls meanwhile fail as those of a store that is away, the store is not healthy, and what was stored is there
// afterwards. Two hosts in the URL, and one name that leads to another server.
func TestFailover(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(*testing.T, *postgrestest.Pair) (url string, moves func()){
		"two hosts": func(_ *testing.T, p *postgrestest.Pair) (string, func()) {
			return p.URL(p.Primary, p.Standby), func() {}
		},
		"one name": func(t *testing.T, p *postgrestest.Pair) (string, func()) {
			d := newDoor(t, p.Primary)
			return p.URL(d.Addr().String()), func() { d.leadTo(p.Standby) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pair := postgrestest.NewPair(t)
			at, moves := url(t, pair)
			failover(t, pair, at, moves)
		})
	}
}

func failover(t *testing.T, pair *postgrestest.Pair, url string, moves func()) {
	s, ctx := open(t, url, postgres.Options{}), context.Background()
	owner, err := s.Register(ctx, "x", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Accept(ctx, said(0, 0)); err != nil {
		t.Fatal(err)
	}
	claims, err := s.Claim(ctx, core.ClaimRequest{Owner: owner, Limit: 1, Scopes: served})
	if err != nil || len(claims) != 1 {
		t.Fatalf("claiming: %v, %v", claims, err)
	}
	pair.KillPrimary()
	moves()
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		_, accept := s.Accept(ctx, said(0, 1))
		_, read := s.Events(ctx, core.EventFilter{})
		finish := s.Finish(ctx, core.Finish{Claim: claims[0], End: core.End{Kind: core.EndReplied}})
		for name, err := range map[string]error{
			"accept": accept, "read": read, "finish": finish, "health": s.Health(ctx),
		} {
			if core.CategoryOf(err) != core.StoreBusy {
				t.Fatalf("%s while no server takes writes: %v, want store_busy", name, err)
			}
		}
	}
	if said := core.MessageOf(s.Health(ctx)); !strings.Contains(said, "standby") {
		t.Errorf("the standby is not named: %q", said)
	}
	pair.Promote()
	promoted := time.Now()
	for err = s.Health(ctx); err != nil && time.Since(promoted) < 10*time.Second; err = s.Health(ctx) {
		_, _ = s.Accept(ctx, said(0, 1))
	}
	if err != nil {
		t.Fatalf("ten seconds after the standby was promoted: %v", err)
	}
	if err := s.Finish(ctx, core.Finish{Claim: claims[0], End: core.End{Kind: core.EndReplied}}); err != nil {
		t.Errorf("the claim from before is not there any more: %v", err)
	}
}

// TestAConnectionToAStandbyIsLeft: the URL names the standby first; and one that asks for a standby is told of it.
func TestAConnectionToAStandbyIsLeft(t *testing.T) {
	t.Parallel()
	pair, ctx := postgrestest.NewPair(t), context.Background()
	s := open(t, pair.URL(pair.Standby, pair.Primary), postgres.Options{})
	if err := s.AddNote(ctx, "ann", "x"); err != nil {
		t.Errorf("with the standby as the first host: %v", err)
	}
	pair.Replayed()
	stays := open(t, pair.URL(pair.Standby, pair.Primary)+"&target_session_attrs=prefer-standby", postgres.Options{})
	err := stays.AddNote(ctx, "ann", "x")
	mute(t, err, core.StoreBusy)
	if said := core.MessageOf(err); !strings.Contains(said, "standby") {
		t.Errorf("a standby that was asked for says %q", said)
	}
}

// TestOddClientEncoding: a database, as a role, may have another default.
func TestOddClientEncoding(t *testing.T) {
	url, ctx := database(t), context.Background()
	run(t, url, `alter database `+nameOf(url)+` set client_encoding = 'LATIN1'`)
	s := open(t, url, postgres.Options{})
	if err := s.AddNote(ctx, "ann", "Grüße 👋"); err != nil {
		t.Fatal(err)
	}
	if notes, err := s.Notes(ctx, "ann"); err != nil || len(notes) != 1 || notes[0] != "Grüße 👋" {
		t.Errorf("got %q, %v", notes, err)
	}
	err := postgres.Translate(postgres.ErrEncoding)
	mute(t, err, core.StoreUnreadable)
	if said := core.MessageOf(err); !strings.Contains(said, "client_encoding") {
		t.Errorf("a pooler's encoding that stays: %q", said)
	}
}
