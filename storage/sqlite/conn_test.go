package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
)

func testConn(t *testing.T) *conn {
	t.Helper()
	c, err := connect(source(filepath.Join(t.TempDir(), "a.db"), Options{}.Filled(busyTimeout), "mode=rwc"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return c
}

func run(t *testing.T, c *conn, text string, args ...any) int64 {
	t.Helper()
	n, err := c.exec(text, args)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

// one reads a value.
func one[T any](t *testing.T, c *conn, text string, args ...any) (v T) {
	t.Helper()
	if err := c.query(context.Background(), text, args, func(scan func(...any) error) error {
		return scan(&v)
	}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestConnKeepsValues(t *testing.T) {
	type name string
	c := testConn(t)
	run(t, c, `create table t (text text, number integer, bytes blob, flag integer) strict`)
	if n := run(t, c, `insert into t values ($1, $2, $3, $4), ('b', 2, null, 0)`, name("a\x00b"), 7, []byte{0, 1},
		true); n != 2 {
		t.Errorf("%d rows were changed, want 2", n)
	}
	if got := one[name](t, c, `select text from t where number = $1`, 7); got != "a\x00b" {
		t.Errorf("the text is %q", got)
	}
	if got := one[[]byte](t, c, `select bytes from t where flag = $1`, true); string(got) != "\x00\x01" {
		t.Errorf("the bytes are %q", got)
	}
	if got := one[[]byte](t, c, `select bytes from t where number = 2`); got != nil {
		t.Errorf("null is read as %q", got)
	}
	if !one[bool](t, c, `select flag from t where number = 7`) || one[int](t, c, `select max(number) from t`) != 7 {
		t.Error("the flag or the number is wrong")
	}
	if n := run(t, c, `select * from t`); n != 0 {
		t.Errorf("reading changed %d rows", n)
	}
	run(t, c, `drop table t`) // would fail if a statement were still open
}

func TestConnRefusesWhatDoesNotFit(t *testing.T) {
	c := testConn(t)
	var small int8
	for what, err := range map[string]error{
		"too few arguments": c.query(t.Context(), `select $1, $2`, []any{1}, nil),
		"an unknown type":   c.query(t.Context(), `select $1`, []any{struct{}{}}, nil),
		"a number too large": c.query(t.Context(), `select 1000`, nil, func(scan func(...any) error) error {
			return scan(&small)
		}),
		"a text for a bool": c.query(t.Context(), `select 'yes'`, nil, func(scan func(...any) error) error {
			return scan(new(bool))
		}),
		"too few columns": c.query(t.Context(), `select 1`, nil, func(scan func(...any) error) error { return scan() }),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if got := one[int](t, c, `select 3`); got != 3 {
		t.Errorf("afterwards the connection reads %d", got)
	}
}

// A statement that is used after its table has changed is prepared again, and those that are too many make room.
func TestConnPreparesAgain(t *testing.T) {
	c := testConn(t)
	run(t, c, `create table t (a integer)`)
	for round := range 2 {
		for i := range preparedAtMost + 10 {
			text := fmt.Sprintf(`insert into t (a) values (%d)`, i)
			run(t, c, text)
		}
		if len(c.prepared) > preparedAtMost {
			t.Fatalf("%d statements are prepared, want at most %d", len(c.prepared), preparedAtMost)
		}
		run(t, c, fmt.Sprintf(`alter table t add column b%d integer`, round))
	}
	if got := one[int](t, c, `select count(*) from t`); got != 2*(preparedAtMost+10) {
		t.Errorf("%d rows", got)
	}
}

func TestAReadEndsWithItsContext(t *testing.T) {
	c := testConn(t)
	ctx, cancel := context.WithCancel(t.Context())
	rows := 0
	err := c.query(ctx, `with recursive n(i) as (select 1 union all select i + 1 from n) select i from n`, nil,
		func(func(...any) error) error {
			if rows++; rows == 10 {
				cancel()
			}
			return nil
		})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after %d rows: %v", rows, err)
	}
	if got := one[string](t, c, `select 'next'`); got != "next" {
		t.Errorf("afterwards the connection reads %q", got)
	}
}

func TestReadsFailOnceTheStoreIsClosed(t *testing.T) {
	s, err := OpenStore(t.Context(), filepath.Join(t.TempDir(), "a.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Notes(t.Context(), "ann"); core.CategoryOf(err) != core.Internal ||
		!strings.Contains(err.Error(), "closed") {
		t.Errorf("got %v", err)
	}
}

func TestAReadWaitsNoLongerThanItsCaller(t *testing.T) {
	r := newReaders(source(filepath.Join(t.TempDir(), "a.db"), Options{}.Filled(busyTimeout), "mode=rwc"))
	ctx, cancel := context.WithCancel(t.Context())
	var nest func(n int) error
	nest = func(n int) error {
		if n == 0 {
			cancel()
		}
		return r.use(ctx, func(*conn) error { return nest(n - 1) })
	}
	if err := nest(readersAtMost); !errors.Is(err, context.Canceled) {
		t.Errorf("with all connections in use: %v", err)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}
