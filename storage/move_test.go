package storage_test

import (
	"compress/gzip"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/mattn/go-sqlite3"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage"
	"gatehouse/storage/postgres/postgrestest"
)

// latest unpacks the stored SQLite database of the latest schema, whose tables all have rows, brings it up to date and
// returns its file.
func latest(t *testing.T) string {
	t.Helper()
	all, err := filepath.Glob("sqlite/testdata/0*.db.gz")
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, %v", all, err)
	}
	packed, err := os.Open(slices.Max(all))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := storage.Migrate(t.Context(), "sqlite:"+file, storage.Options{}); err != nil {
		t.Fatal(err)
	}
	return file
}

// connect opens a database as another program would, and runs statements there.
func connect(t *testing.T, driver, address string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

// many adds a session with so many messages, and values that databases like to change.
func many(t *testing.T, file string, messages int) {
	t.Helper()
	connect(t, "sqlite3", file,
		fmt.Sprintf(`insert into sessions (id, schema_version, state, has_messages, messages, next_pos, version,
			created_at, updated_at) values ('many', '1', '{}', 1, %[1]d, %[1]d, 1, 1764000000123456789, 1)`, messages),
		fmt.Sprintf(`with recursive n (n) as (select 0 union all select n + 1 from n where n < %d - 1)
			insert into messages (session, invocation, n, pos, body) select 'many', 'i-' || (n / 2), n %% 2, n,
			'{"role":"user","content":"number ' || n || ' \u0000 \ud83d\ude00 "}' from n`, messages),
		`insert into kv (name, value) values ('put/odd', '"a\tb\\N\\.\r\n"'), ('put/ünï', '"🙂"')`,
		`insert into blobs (digest, body) values ('sha256:empty', x''), ('sha256:bytes', x'00ff0a5c4e')`,
		`update sqlite_sequence set seq = seq + 1000 where name = 'events'`)
}

// mover returns a move of a file to a Postgres database.
func mover(file, to string) storage.Move {
	return storage.Move{
		From: "sqlite:" + file, To: to, Name: "postgres://there", Quiet: time.Second / 5,
		Watch: &watcher{},
	}
}

// watcher counts what is copied, and verifies the log.
type watcher struct{ rows, copied int64 }

func (w *watcher) Begin(rows int64)  { w.rows = rows }
func (w *watcher) Copied(rows int64) { w.copied = rows }

func (w *watcher) Verify(ctx context.Context, s *storage.Store) error {
	r, err := approvals.VerifyLog(ctx, s, audit.KeysOf(s.Signer()), "")
	if err == nil && len(r.Faults)+r.Entries == 0 || len(r.Faults) > 0 {
		err = fmt.Errorf("the log has %d entries and the faults %q", r.Entries, r.Faults)
	}
	return err
}

// rowsOf returns the rows of a table in any order, each value with its type; true and 1 are the same.
func rowsOf(t *testing.T, db *sql.DB, table, where string, columns []string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "select "+strings.Join(columns, ", ")+" from "+table+where)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var row strings.Builder
		for i, v := range values {
			switch b := v.(type) {
			case bool:
				v = int64(0)
				if b {
					v = int64(1)
				}
			case string:
				v = []byte(b)
			}
			fmt.Fprintf(&row, "%s %T %q ", columns[i], v, fmt.Sprint(v))
		}
		all = append(all, row.String())
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// columnsOf returns the columns of all tables of a Postgres database in which gatehouse stores something.
func columnsOf(t *testing.T, db *sql.DB) map[string][]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `select table_name, column_name from information_schema.columns
		where table_schema = current_schema() order by ordinal_position`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := map[string][]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		all[table] = append(all[table], column)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, none := range []string{"fingerprints", "gatehouse_version", "gatehouse_migrating", "rate_limits"} {
		delete(all, none)
	}
	return all
}

// TestMoveCopiesEveryRow: every table of a database that has rows in all of them is the same at the target, whose
// numbers go on where those of the source ended; the source is as it was, and says that it was moved.
func TestMoveCopiesEveryRow(t *testing.T) {
	t.Parallel()
	messages := 2000
	if os.Getenv("GATEHOUSE_TEST_WIDE") != "" {
		messages = 100_000
	}
	file, to := latest(t), postgrestest.New(t)
	many(t, file, messages)
	source, target := connect(t, "sqlite3", file), connect(t, "pgx", to)
	m := mover(file, to)
	told := &watcher{}
	m.Watch = told
	before := map[string][]string{}
	began := time.Now()
	c, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	total, last := told.rows, told.copied
	t.Logf("%d rows in %s", total, time.Since(began).Round(time.Millisecond))
	if total < int64(messages) || last != total || c.Rows["messages"] < int64(messages) || !c.Done || c.Before {
		t.Errorf("%d of %d rows; %+v", last, total, c)
	}
	const notOfMoves = " where name not in ('moved', 'arrived')"
	for table, columns := range columnsOf(t, target) {
		where := ""
		if table == "kv" {
			where = notOfMoves
		}
		want, got := rowsOf(t, source, table, where, columns), rowsOf(t, target, table, where, columns)
		before[table] = want
		if len(want) == 0 {
			t.Errorf("%s has no rows: what is tested of it?", table)
		}
		if !slices.Equal(got, want) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Errorf("%s has\n%s, not\n%s", table, got[i], want[i])
					break
				}
			}
			t.Errorf("%s has %d rows, not %d", table, len(got), len(want))
		}
	}
	var seq int64
	if err := source.QueryRowContext(t.Context(), `select seq from sqlite_sequence
		where name = 'events'`).Scan(&seq); err != nil {
		t.Fatal(err)
	}
	s, err := storage.Open(t.Context(), to, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Accept(t.Context(),
		core.Event{Platform: "p", ID: "new", Conversation: "p:new", Body: core.MessageEvent{}})
	if err != nil || r.Seq != seq+1 {
		t.Errorf("the next event is %d after %d, %v", r.Seq, seq, err)
	}
	if m, err := s.Moved(t.Context()); m != nil || err != nil {
		t.Errorf("the copy says that it was moved: %+v, %v", m, err)
	}
	old, err := storage.Open(t.Context(), "sqlite:"+file, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if at, err := old.Moved(t.Context()); err != nil || at == nil || at.To != "postgres://there" || !at.Done {
		t.Errorf("the source says %+v, %v", at, err)
	}
	if key, err := old.DatabaseKey(t.Context()); err != nil || key == "" || !s.SignsWithItsKey() {
		t.Errorf("the key is %q, %v", key, err)
	}
	for table, rows := range before {
		where := ""
		if table == "kv" {
			where = notOfMoves
		}
		if got := rowsOf(t, source, table, where, columnsOf(t, target)[table]); !slices.Equal(got, rows) {
			t.Errorf("the source's %s changed", table)
		}
	}
	if _, err := m.Run(t.Context()); err != nil {
		t.Errorf("once more, to the same: %v", err)
	}
	m.To, m.Name = postgrestest.New(t), "postgres://elsewhere"
	if _, err := m.Run(t.Context()); core.CategoryOf(err) != core.Invalid ||
		!strings.Contains(core.MessageOf(err), "was moved to postgres://there") {
		t.Errorf("once more, to another: %v", err)
	}
	m.Again = true
	if _, err := m.Run(t.Context()); err != nil {
		t.Errorf("knowingly, to another: %v", err)
	}
}

// TestMoveRefuses: whatever is refused leaves the target empty and the source without a mark.
func TestMoveRefuses(t *testing.T) {
	t.Parallel()
	using := func(t *testing.T, url string) {
		t.Helper()
		s, err := storage.Open(t.Context(), url, storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		if _, err := s.Register(t.Context(), "serve", time.Second/4); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		prepare  func(t *testing.T, file, to string, m *storage.Move)
		category core.Category
		says     string
	}{
		"a source that is used": {
			func(t *testing.T, file, _ string, _ *storage.Move) { using(t, "sqlite:"+file) },
			core.StoreBusy, "The process serve-0 uses the database",
		},
		"a target that is used": {
			func(t *testing.T, _, to string, m *storage.Move) { using(t, to); m.Quiet = time.Second },
			core.StoreBusy, "uses the target database",
		},
		"a target with data": {
			func(t *testing.T, _, to string, _ *storage.Move) {
				s, err := storage.Open(t.Context(), to, storage.Options{})
				if err == nil {
					err = s.AddNote(t.Context(), "p:c", "milk")
				}
				if err != nil {
					t.Fatal(err)
				}
				_ = s.Close()
			},
			core.Invalid, "not empty: it has rows in its table notes",
		},
		"another program's target": {
			func(t *testing.T, _, to string, _ *storage.Move) {
				connect(t, "pgx", to, `create table events (x int)`)
			},
			core.StoreUnreadable, "another program",
		},
		"a text with a zero byte": {
			func(t *testing.T, file, _ string, _ *storage.Move) {
				connect(t, "sqlite3", file, `insert into notes (seq, owner, text) values (77, 'p:c', 'a' || char(0))`)
			},
			core.Invalid, `The column text of the table notes has a text that Postgres can't store: it holds a zero ` +
				`byte, or is not UTF-8. The row is the one whose seq is "77".`,
		},
		"a log that was changed": {
			func(t *testing.T, file, _ string, _ *storage.Move) {
				connect(t, "sqlite3", file, `update audit set actor = 'mallory' where seq = 1`)
			},
			"", "the faults",
		},
		"no source": {
			func(_ *testing.T, _, _ string, m *storage.Move) { m.From = "sqlite:/nowhere/gatehouse.db" },
			core.StoreUnreadable, "the folder of the database",
		},
		"an empty source": {
			func(t *testing.T, _, _ string, m *storage.Move) {
				m.From = "sqlite:" + filepath.Join(t.TempDir(), "none.db")
			},
			core.NotFound, "There is no gatehouse database",
		},
		"the other way": {
			func(_ *testing.T, _, _ string, m *storage.Move) { m.From, m.To = m.To, m.From },
			core.Invalid, "not the other way",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, to := latest(t), postgrestest.New(t)
			m := mover(file, to)
			c.prepare(t, file, to, &m)
			_, err := m.Run(t.Context())
			if err == nil || !strings.Contains(fmt.Sprint(core.MessageOf(err), err), c.says) ||
				c.category != "" && core.CategoryOf(err) != c.category {
				t.Errorf("it says %v (%s)", err, core.CategoryOf(err))
			}
			var n int
			if err := connect(t, "sqlite3", file).QueryRowContext(t.Context(), `select count(*) from kv
				where name = 'moved'`).Scan(&n); err != nil || n > 0 {
				t.Errorf("the source has %d marks, %v", n, err)
			}
			_ = connect(t, "pgx", to).QueryRowContext(t.Context(), `select count(*) from messages`).Scan(&n)
			if n > 0 {
				t.Errorf("the target has %d messages", n)
			}
		})
	}
}
