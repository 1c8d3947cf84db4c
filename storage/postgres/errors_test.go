package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	neturl "net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gatehouse/core"
	"gatehouse/storage/postgres"
	"gatehouse/storage/postgres/postgrestest"
)

// mute checks the category, and that the message is not empty and contains nothing of the address.
func mute(t *testing.T, err error, category core.Category) {
	t.Helper()
	if core.CategoryOf(err) != category {
		t.Fatalf("got %v, want category %s", err, category)
	}
	said := core.MessageOf(err)
	for _, word := range []string{"127.0.0.1", "5432", "gatehouse_test", "postgres@", "secret"} {
		if said == "" || strings.Contains(said, word) {
			t.Errorf("%q says %q", said, word)
		}
	}
}

func TestCodes(t *testing.T) {
	for code, category := range map[string]core.Category{
		"40001": core.StoreBusy, "40P01": core.StoreBusy, "40003": core.StoreBusy, "08006": core.StoreBusy,
		"57P01": core.StoreBusy, "57P03": core.StoreBusy,
		"53300": core.StoreBusy, "55P03": core.StoreBusy, "57014": core.StoreBusy, "25P03": core.StoreBusy,
		"25006": core.StoreBusy,
		"53100": core.StoreFull, "53200": core.StoreBusy,
		"28P01": core.StoreUnreadable, "28000": core.StoreUnreadable, "3D000": core.StoreUnreadable,
		"42501": core.StoreUnreadable, "3F000": core.StoreUnreadable,
		"XX001": core.StoreUnreadable, "58030": core.StoreUnreadable, "42P01": core.StoreUnreadable,
		"42P07": core.StoreUnreadable,
		"22021": core.Invalid, "54000": core.Invalid,
		"23505": core.Internal, "42601": core.Internal, "22003": core.Internal,
		"XX000": core.StoreBusy, "": core.StoreBusy, "0A000": core.StoreBusy, "55000": core.StoreBusy,
		"ZZ999": core.StoreBusy,
	} {
		err := postgres.Translate(errors.Join(&pgconn.PgError{Code: code, Message: "secret"}))
		if core.CategoryOf(err) != category {
			t.Errorf("%s became %v, want %s", code, err, category)
		}
		mute(t, err, category)
	}
	ours := core.Errorf(core.ClaimLost, "x")
	for _, err := range []error{nil, ours, context.Canceled, context.DeadlineExceeded} {
		if got := postgres.Translate(err); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
	for _, err := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, &net.OpError{Op: "read", Err: errors.New("reset")},
		postgres.ErrUnknown,
	} {
		mute(t, postgres.Translate(err), core.StoreBusy)
	}
	mute(t, postgres.Translate(errors.New("other")), core.StoreBusy)
	mute(t, postgres.Translate(pgx.ScanArgError{Err: errors.New("other")}), core.Internal)
}

// TestErrorsOfAPooler: they are named with what to do, and one that ends the connection says nothing of what was
// committed on it just before.
func TestErrorsOfAPooler(t *testing.T) {
	theirs := &pgconn.PgError{Code: "XX000", Message: "Tenant or user not found", Severity: "ERROR"}
	if said := core.MessageOf(postgres.Translate(theirs)); !strings.Contains(said, "check the pooler's log") {
		t.Errorf("it says %q", said)
	}
	if postgres.ConnectionDied(theirs) {
		t.Error("an error ended the connection")
	}
	theirs.Severity = "FATAL"
	if !postgres.ConnectionDied(theirs) {
		t.Error("a fatal error did not end the connection")
	}
}

func TestCharactersThatATextCannotHold(t *testing.T) {
	ctx := context.Background()
	s := open(t, database(t), postgres.Options{})
	for _, id := range []string{"a\x00b", "a\xffb", strings.Repeat("xyz", 1<<20)} {
		_, err := s.Accept(ctx, core.Event{Platform: "p", ID: id, Conversation: "p:l", Body: core.MessageEvent{}})
		if len(id) < 10 || err != nil { // a long one may be stored if it compresses well
			mute(t, err, core.Invalid)
		}
	}
	if err := s.AddNote(ctx, "ann", "a\x00b\xff"); err != nil {
		t.Fatal(err)
	}
	if notes, err := s.Notes(ctx, "ann"); err != nil || len(notes) != 1 || notes[0] != "a\ufffdb\ufffd" {
		t.Errorf("got %q, %v", notes, err)
	}
}

// TestMissingPermission: a role without rights, one that does not exist, a database that does not.
func TestMissingPermission(t *testing.T) {
	ctx := context.Background()
	url := postgrestest.New(t)
	role := nameOf(url) + "_role"
	run(t, url, `create role `+role+` login password 'secret'`, `revoke create on schema public from public`)
	t.Cleanup(func() { run(t, url, `drop role `+role) })
	at := func(user, database string) string {
		u, err := neturl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		u.User, u.Path = neturl.UserPassword(user, "secret"), "/"+database
		return u.String()
	}
	for _, bad := range []string{
		at(role, nameOf(url)), at("nobody_"+role, nameOf(url)), at(role, "none_"+nameOf(url)),
	} {
		_, err := postgres.Open(ctx, bad, postgres.Options{})
		mute(t, err, core.StoreUnreadable)
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is in %v", err)
		}
	}
	// The tables exist and the role may use them, which is enough.
	open(t, url, postgres.Options{}).Close()
	run(t, url, `grant select, insert, update, delete on all tables in schema public to `+role)
	s := open(t, at(role, nameOf(url)), postgres.Options{})
	if _, err := s.Accept(ctx,
		core.Event{Platform: "p", ID: "1", Conversation: "p:l", Body: core.MessageEvent{}}); err != nil {
		t.Errorf("with rights: %v", err)
	}
	s.Close()
	run(t, url, `drop owned by `+role)
}

func TestReadOnly(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	s := open(t, url, postgres.Options{})
	run(t, url, `alter database `+nameOf(url)+` set default_transaction_read_only = on`)
	other := open(t, url, postgres.Options{}) // a default does not prevent writing
	if err := errors.Join(s.AddNote(ctx, "ann", "x"), other.AddNote(ctx, "ann", "x")); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestClosed(t *testing.T) {
	s := open(t, database(t), postgres.Options{})
	s.Close()
	mute(t, s.AddNote(context.Background(), "ann", "x"), core.Internal)
	_, err := s.Notes(context.Background(), "ann")
	mute(t, err, core.Internal)
}
