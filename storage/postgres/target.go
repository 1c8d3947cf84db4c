package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// Target is an empty database into which another one is copied, in a single transaction: so it holds all of it, or
// stays empty. Its tables are locked, and a process that starts waits for its end.
type Target struct {
	config  *pgx.ConnConfig
	options Options
	conn    *pgx.Conn
	tables  []string // to fill, those first to which others refer
	columns map[string][]column
}

// column is one of a table.
type column struct {
	table, name string
	boolean     bool
	counts      bool // its numbers are given out by a sequence
}

// OpenTarget begins the copy. It fails with store_busy if a gateway runs on the database: if one of its owners beats
// within this time.
func OpenTarget(ctx context.Context, url string, o Options, quiet time.Duration) (*Target, error) {
	o = o.Filled(timeout)
	found, known, err := Version(ctx, url, o)
	switch {
	case err != nil:
		return nil, err
	case found > 0 && found < known:
		return nil, notEmpty("an earlier gatehouse's data")
	}
	if _, _, err := Migrate(ctx, url, o); err != nil {
		return nil, err
	}
	t := &Target{options: o, columns: map[string][]column{}}
	if t.config, err = configureMigrations(url); err != nil {
		return nil, err
	}
	if t.conn, err = pgx.ConnectConfig(ctx, t.config); err == nil {
		err = t.begin(ctx, quiet)
	}
	if err != nil {
		t.Close()
		return nil, translate(err)
	}
	return t, nil
}

// Close gives up what was not committed.
func (t *Target) Close() {
	if t.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), unlockTimeout)
	defer cancel()
	_ = t.conn.Close(ctx) // which undoes the transaction
}

// beginCopy limits waits for locks, and nothing else: what is copied may take hours.
const beginCopy = beginning + `; set local synchronous_commit = on; set local lock_timeout = '5s';
	set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`

func (t *Target) begin(ctx context.Context, quiet time.Duration) error {
	if err := t.readColumns(ctx); err != nil {
		return err
	}
	before, err := t.beats(ctx)
	if err != nil {
		return err
	}
	if len(before) > 0 {
		if err := sleep(ctx, quiet); err != nil {
			return err
		}
	}
	if _, err := t.conn.Exec(ctx, beginCopy+`; lock table `+strings.Join(t.tables, ", ")+
		` in access exclusive mode`); err != nil {
		if codeOf(err) == "55P03" {
			return errServed
		}
		return fmt.Errorf("locking the tables: %w", err)
	}
	after, err := t.beats(ctx)
	if err != nil {
		return err
	}
	for owner, beat := range after {
		if old, known := before[owner]; !known || old != beat {
			return errServed
		}
	}
	return nil
}

// errServed says that a gateway runs on the target.
var errServed = core.Errorf(core.StoreBusy, "A gatehouse process uses the target database. Stop every gatehouse serve "+
	"and gatehouse chat on it, and try again.")

func (t *Target) beats(ctx context.Context) (map[string]int64, error) {
	rows, err := t.conn.Query(ctx, `select owner, beat from owners`)
	if err != nil {
		return nil, fmt.Errorf("reading the owners: %w", err)
	}
	all := map[string]int64{}
	var owner string
	var beat int64
	_, err = pgx.ForEachRow(rows, []any{&owner, &beat}, func() error {
		all[owner] = beat
		return nil
	})
	return all, err
}

// kept are the tables whose rows are of the schema, not of what is stored.
var kept = []string{versions, "gatehouse_migrating", "fingerprints"}

// readColumns reads which tables there are, and what they are made of.
func (t *Target) readColumns(ctx context.Context) error {
	rows, err := t.conn.Query(ctx, `
		select relname, attname, atttypid = 'boolean'::regtype, attidentity <> ''
		from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
		where relnamespace = (select oid from pg_namespace where nspname = current_schema()) and relkind = 'r'
			and relname = any($1) and relname <> all($2)
		order by (select count(*) from pg_constraint where conrelid = pg_class.oid and contype = 'f'), relname, attnum`,
		migrations.Names(), kept)
	if err != nil {
		return fmt.Errorf("reading the tables: %w", err)
	}
	var c column
	_, err = pgx.ForEachRow(rows, []any{&c.table, &c.name, &c.boolean, &c.counts}, func() error {
		if len(t.columns[c.table]) == 0 {
			t.tables = append(t.tables, c.table)
		}
		t.columns[c.table] = append(t.columns[c.table], c)
		return nil
	})
	return err
}

// Tables returns the tables to fill, in order.
func (t *Target) Tables() []string { return t.tables }

// Columns returns the columns of a table.
func (t *Target) Columns(table string) (names []string) {
	for _, c := range t.columns[table] {
		names = append(names, c.name)
	}
	return names
}

// Counting returns the columns of all tables whose numbers are given out one after another.
func (t *Target) Counting() (all [][2]string) {
	for _, table := range t.tables {
		for _, c := range t.columns[table] {
			if c.counts {
				all = append(all, [2]string{table, c.name})
			}
		}
	}
	return all
}

// Arrived returns the id of the copy that the database is; "" if it is none.
func (t *Target) Arrived(ctx context.Context) (id string, err error) {
	err = t.conn.QueryRow(ctx, `select coalesce((select value from kv where name = $1), '')`,
		sqlstore.ArrivedName).Scan(&id)
	return id, translate(err)
}

// started are the tables and values that a gateway has as soon as it has started, before anybody has used it.
var started = []string{"owners", "leases", "tasks"}

const startedValues = `select count(*) from kv where name not like 'kept/%' and name <> 'put/health'`

// Clear removes what a gateway stores when it starts. It fails with invalid if there is anything else.
func (t *Target) Clear(ctx context.Context) error {
	for _, table := range t.tables {
		query := `select count(*) from (select 1 from ` + table + ` limit 1) any_row`
		switch {
		case slices.Contains(started, table):
			continue
		case table == "kv":
			query = startedValues
		case table == "audit_head":
			query += ` where exists (select 1 from audit_head where seq > 0)`
		}
		var n int
		if err := t.conn.QueryRow(ctx, query).Scan(&n); err != nil {
			return translate(fmt.Errorf("looking into %s: %w", table, err))
		}
		if n > 0 {
			return notEmpty("rows in its table " + table)
		}
	}
	for _, table := range append(started, "kv", "audit_head") {
		if _, err := t.conn.Exec(ctx, `delete from `+table); err != nil {
			return translate(fmt.Errorf("clearing %s: %w", table, err))
		}
	}
	return nil
}

func notEmpty(holds string) error {
	return core.Errorf(core.Invalid, "The target database is not empty: it has %s. Nothing is moved over data. Name "+
		"an empty database, or a schema of its own (search_path=NAME in its address).", holds)
}

// Copy fills a table with the rows that next returns; nil: no more. It returns how many there were.
func (t *Target) Copy(ctx context.Context, table string, next func() ([]any, error)) (int64, error) {
	columns := t.columns[table]
	var refused error // what the server tells of it is its text alone
	n, err := t.conn.CopyFrom(ctx, pgx.Identifier{table}, t.Columns(table), pgx.CopyFromFunc(func() ([]any, error) {
		row, err := next()
		if row == nil || err != nil {
			refused = err
			return nil, err
		}
		for i, c := range columns {
			if row[i], err = c.value(columns[0], row[0], row[i]); err != nil {
				refused = err
				return nil, err
			}
		}
		return row, nil
	}))
	if refused != nil {
		return n, refused
	}
	if err != nil {
		return n, translate(fmt.Errorf("filling %s: %w", table, err))
	}
	return n, nil
}

// value returns a value as the column takes it. The table's first column, and its value, name the row in the error.
func (c column) value(first column, name, v any) (any, error) {
	switch v := v.(type) {
	case int64:
		if c.boolean {
			return v != 0, nil
		}
	case string:
		if strings.ToValidUTF8(v, "") != v || strings.Contains(v, "\x00") {
			return nil, core.Errorf(core.Invalid, "The column %s of the table %s has a text that Postgres can't "+
				"store: it holds a zero byte, or is not UTF-8. The row is the one whose %s is %q. Nothing was "+
				"moved. Delete "+
				"what it belongs to, such as its session, and try again.", c.name, c.table, first.name,
				fmt.Sprint(name))
		}
	}
	return v, nil
}

// Continue has the numbers of a column go on after n.
func (t *Target) Continue(ctx context.Context, table, column string, n int64) error {
	_, err := t.conn.Exec(ctx, fmt.Sprintf(`alter table %s alter column %s restart with %d`, table, column, n+1))
	return translate(err)
}

// Count returns the number of rows of a table.
func (t *Target) Count(ctx context.Context, table string) (n int64, err error) {
	err = t.conn.QueryRow(ctx, `select count(*) from `+table).Scan(&n)
	return n, translate(err)
}

// Store returns a store on what was copied so far, within the transaction. It is not closed.
func (t *Target) Store(ctx context.Context) (*sqlstore.Store, error) {
	return sqlstore.New(ctx, &inside{database: &database{options: t.options}, target: t}, t.options)
}

// inside is the engine of a store whose every method is part of the one transaction.
type inside struct {
	*database
	target *Target
}

func (i *inside) Write(ctx context.Context, work sqlstore.Work) error {
	run := &transaction{ctx: ctx, conn: i.target.conn, options: &i.target.options, begun: true}
	return translate(work(run, time.Time{}))
}

func (i *inside) Beat(ctx context.Context, work sqlstore.Work) error { return i.Write(ctx, work) }
func (i *inside) Read(ctx context.Context, work sqlstore.Work) error { return i.Write(ctx, work) }
func (i *inside) Close() error                                       { return nil }

// Commit notes the id of the copy and commits it. unknown: the answer was lost, so it may be committed.
func (t *Target) Commit(ctx context.Context, id string) (unknown bool, err error) {
	// what the source says of an earlier attempt is not meant of the copy
	_, err = t.conn.Exec(ctx, `delete from kv where name = $1`, sqlstore.MovedName)
	if err == nil {
		_, err = t.conn.Exec(ctx, `insert into kv (name, value) values ($1, $2)
			on conflict (name) do update set value = excluded.value`, sqlstore.ArrivedName, id)
	}
	if err != nil {
		return false, translate(fmt.Errorf("noting the copy: %w", err))
	}
	for _, table := range t.tables {
		if _, err := t.conn.Exec(ctx, `analyze `+table); err != nil {
			return false, translate(fmt.Errorf("measuring %s: %w", table, err))
		}
	}
	tag, err := t.conn.Exec(ctx, committing)
	switch {
	case err == nil && tag.String() == "COMMIT":
		return false, nil
	case err == nil:
		return false, translate(pgx.ErrTxCommitRollback)
	case t.conn.IsClosed() && !answered(err):
		return true, translate(errors.Join(errUnknown, err))
	}
	return false, translate(fmt.Errorf("committing: %w", err))
}
