package postgres_test

import (
	"bytes"
	"net"
	neturl "net/url"
	"sync"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/postgres"
)

// line is a proxy to the server that can cut the connection after a commit is stored and before its answer arrives.
type line struct {
	t      *testing.T
	server string
	listen net.Listener
	all    sync.WaitGroup
	mu     sync.Mutex
	cut    bool
	alter  func([]byte) // changes what the server says; nil: nothing
}

// newLine returns a line, and the database's URL through it: without encryption and prepared statements, so that each
// commit can be read.
func newLine(t *testing.T, url string) (*line, string) {
	t.Helper()
	u, err := neturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, server: u.Host}
	if l.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	u.Host = l.listen.Addr().String()
	query := u.Query()
	query.Set("sslmode", "disable")
	query.Set("default_query_exec_mode", "exec")
	u.RawQuery = query.Encode()
	l.all.Go(l.serve)
	t.Cleanup(func() { l.listen.Close(); l.all.Wait() })
	return l, u.String()
}

func (l *line) serve() {
	for {
		client, err := l.listen.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", l.server)
		if err != nil {
			l.t.Errorf("the server can't be reached: %v", err)
			client.Close()
			return
		}
		deaf := make(chan struct{})
		l.all.Go(func() { l.answers(client, server, deaf) })
		l.all.Go(func() { l.requests(client, server, deaf) })
	}
}

// requests forwards the client's bytes. At a commit that is to be cut, it closes deaf before it forwards the commit.
func (l *line) requests(client, server net.Conn, deaf chan struct{}) {
	defer server.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if l.cuts(buffer[:n]) {
			close(deaf)
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// answers forwards the server's bytes. Once deaf is closed, it cuts the connection instead.
func (l *line) answers(client, server net.Conn, deaf chan struct{}) {
	defer client.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-deaf:
			return
		default:
		}
		if l.alter != nil {
			l.alter(buffer[:n])
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// cuts reports whether this is the commit to cut.
func (l *line) cuts(said []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	cut := l.cut && bytes.Contains(said, []byte("commit\x00"))
	if cut {
		l.cut = false
	}
	return cut
}

// TestLostAnswerToACommit: each method fails as store_busy though its work is stored, and then repeating it is safe.
func TestLostAnswerToACommit(t *testing.T) {
	f := newFault(t, postgres.Options{})
	l, url := newLine(t, f.url)
	s := open(t, url, postgres.Options{})
	lost := func(what string, do func() error) {
		t.Helper()
		l.mu.Lock()
		l.cut = true
		l.mu.Unlock()
		if err := do(); core.CategoryOf(err) != core.StoreBusy {
			t.Fatalf("%s came to %v, want store_busy", what, err)
		}
	}
	var r core.Receipt
	accept := func() (err error) { r, err = s.Accept(f.ctx, said(0, 0)); return err }
	lost("Accept", accept)
	if f.want(accept(), ""); r.Fresh || r.Seq == 0 {
		t.Errorf("the event was stored, and then the receipt is %+v", r)
	}

	var claims []core.Claim
	claim := func() (err error) {
		claims, err = s.Claim(f.ctx, core.ClaimRequest{Owner: f.owner, Limit: 1, Scopes: served})
		return err
	}
	lost("Claim", claim)
	if f.want(claim(), ""); len(claims) != 1 || claims[0].Event.Attempt != 1 {
		t.Fatalf("the conversation did not come back as it was: %+v", claims)
	}
	c := claims[0]

	h := core.History{}.Append(core.Message{Role: core.User, Content: core.Text("hello")})
	rec := &core.SessionRecord{ID: c.Session, Messages: &h, Writer: core.Writer{Invocation: c.Event.Invocation}}
	save := func() error { return s.SaveSession(f.ctx, c, rec) }
	lost("SaveSession", save)
	f.want(save(), "")
	if msgs, err := s.InvocationMessages(f.ctx, c.Session, c.Event.Invocation); err != nil || len(msgs) != 1 {
		t.Errorf("%d messages, %v", len(msgs), err)
	}

	f.want(
		s.AddPosts(f.ctx, c,
			[]core.Post{{Key: "k", Kind: core.PostNotice, To: c.Event.Address, Conversation: c.Event.Conversation}}),
		"")
	var rows []core.OutboxRow
	deliver := func() (err error) {
		rows, err = s.ClaimPosts(f.ctx, core.PostRequest{Owner: f.owner, Limit: 1, Scopes: served})
		return err
	}
	lost("ClaimPosts", deliver)
	if f.want(deliver(), ""); len(rows) != 1 || rows[0].Key != "k" {
		t.Fatalf("the post did not come back: %+v", rows)
	}

	end := core.Finish{
		Claim: c, End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
			Approval: &core.Approval{
				ID: "a", Invocation: c.Event.Invocation, Session: c.Session, Conversation: c.Event.Conversation,
				Address: c.Event.Address, Call: core.Call{Tool: "note", Digest: "d"},
				Rule: core.Rule{Approvers: voters()},
			},
			Paused: &core.PausedRecord{Invocation: c.Event.Invocation, Session: c.Session},
		},
	}
	lost("Finish", func() error { return s.Finish(f.ctx, end) })
	f.want(s.Finish(f.ctx, end), core.ClaimLost)

	var d core.Decided
	decide := func() (err error) {
		d, err = s.Decide(f.ctx,
			core.Decision{
				Approval: "a", Event: r.Seq, Vote: &core.Vote{Actor: core.Actor{ID: "p:v1"}, Choice: core.Approve},
			})
		return err
	}
	lost("Decide", decide)
	if f.want(decide(), ""); !d.Counted || !d.Settled || len(d.Approval.Votes) != 1 {
		t.Errorf("the repeated vote came to %+v", d)
	}

	f.want(claim(), "")
	c = claims[0]
	intent := core.Intent{Approval: "a", Invocation: c.Event.Invocation, Tool: "note", Digest: "d"}
	lost("BeginIntent", func() error { _, err := s.BeginIntent(f.ctx, c, intent); return err })
	if rec, err := s.BeginIntent(f.ctx, c, intent); err != nil || rec.Fresh {
		t.Errorf("an intent that may have been run came as %+v, %v", rec, err)
	}
	settle := func() error { return s.FinishIntent(f.ctx, c, "a", core.ToolResult{Content: "a\x00b"}) }
	lost("FinishIntent", settle)
	f.want(settle(), "")
	if rec, err := s.LoadIntent(f.ctx, "a"); err != nil || rec.Result == nil || rec.Result.Content != "a\x00b" {
		t.Errorf("got %+v, %v", rec, err)
	}
	lost("Release", func() error { return s.Release(f.ctx, c) })
	f.want(s.Release(f.ctx, c), core.ClaimLost)
	log, err := s.AuditLog(f.ctx, 0, 0)
	if err != nil || len(log) != 5 {
		t.Errorf("the log has %d entries (%v), want opened, voted, approved, begun, settled", len(log), err)
	}
}
