package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"gatehouse/core"
	"gatehouse/storage/internal/migration"
)

//go:embed migrations/*.sql earlier/*.sql
var files embed.FS

// versions is the table of applied migrations. It has gatehouse's name, since a schema may be shared.
const versions = "gatehouse_version"

// migrations reads a schema from the tables of the catalog alone: the server's functions that write definitions do not
// see the transaction's snapshot, and write them in ways of their version.
var migrations = migration.New(goose.DialectPostgres, files, versions, `
	with tables as (
		select oid, relname from pg_class where relnamespace = (
			select oid from pg_namespace where nspname = current_schema()) and relkind in ('r', 'p')
	)
	select relname, relname, concat_ws(' ', 'column', attname, format_type(atttypid, atttypmod), attnotnull,
		attidentity,
		pg_get_expr(adbin, adrelid))
	from tables t join pg_attribute on attrelid = t.oid and attnum > 0 and not attisdropped
		left join pg_attrdef on adrelid = attrelid and adnum = attnum
	union all
	select t.relname, t.relname, concat_ws(' ', 'constraint', contype, confrelid::regclass, confdeltype, (
		select string_agg(attname, ',' order by place) from unnest(conkey) with ordinality key (number, place)
			join pg_attribute on attrelid = conrelid and attnum = number))
	from tables t join pg_constraint on conrelid = t.oid
	where contype <> 'n'
	union all
	select t.relname, i.relname, concat_ws(' ', case when indisunique then 'unique' end, 'index', (
		select string_agg(attname, ',' order by place) from unnest(indkey) with ordinality key (number, place)
			join pg_attribute on attrelid = indrelid and attnum = number), pg_get_expr(indpred, indrelid))
	from tables t join pg_index on indrelid = t.oid join pg_class i on i.oid = indexrelid`)

// Version returns a database's schema version (0: none yet) and the version that this build knows. It changes nothing.
func Version(ctx context.Context, url string, o Options) (found, known int64, err error) {
	config, err := configureMigrations(url)
	if err != nil {
		return 0, 0, err
	}
	found, _, err = version(ctx, config, o.Filled(timeout))
	return found, migrations.Known, translate(err)
}

// configureMigrations returns the configuration of the connections that migrate. They prepare nothing, since each
// statement runs once.
func configureMigrations(url string) (*pgx.ConnConfig, error) {
	config, err := configure(url)
	if err != nil {
		return nil, err
	}
	if config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	return config.ConnConfig, nil
}

// version also returns what migration.Set.Find does.
func version(ctx context.Context, config *pgx.ConnConfig, o Options) (found int64, earlier string, err error) {
	db := stdlib.OpenDB(*config)
	defer db.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, errTimeout)
	defer cancel()
	defer func() { err = markTimeout(ctx, err) }()
	// One snapshot: another process may be migrating.
	tx, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return 0, "", fmt.Errorf("beginning to read: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	var versioned bool
	var foreign int
	err = tx.QueryRowContext(ctx, `
		select count(*) filter (where table_name = $1) > 0, count(*) filter (where table_name <> $1)
		from information_schema.tables where table_schema = current_schema() and (table_name = $1
			or table_name = any($2::text[]))`, versions, migrations.Names()).Scan(&versioned, &foreign)
	switch {
	case err != nil:
		return 0, "", fmt.Errorf("looking for our tables: %w", err)
	case !versioned && foreign > 0:
		return 0, "", core.Errorf(core.StoreUnreadable, "The database holds tables of another program with names "+
			"that gatehouse needs. Give gatehouse a database or a schema of its own.")
	case !versioned:
		return 0, "", nil
	}
	return migrations.Find(ctx, tx, "this database")
}

// Migrate brings a database's schema up to the version that this build knows, and returns the versions before and
// after. If processes start together, one migrates and the others wait (see lockMigrations). After a crash the next
// call does the rest.
func Migrate(ctx context.Context, url string, o Options) (from, to int64, err error) {
	config, err := configureMigrations(url)
	if err != nil {
		return 0, 0, err
	}
	from, _, err = version(ctx, config, o.Filled(timeout))
	if err != nil || from == migrations.Known {
		return from, from, translate(err)
	}
	if err := migrate(ctx, config, o.Filled(timeout)); err != nil {
		return from, from, translate(fmt.Errorf("migrating: %w", err))
	}
	return from, migrations.Known, nil
}

func migrate(ctx context.Context, config *pgx.ConnConfig, o Options) (err error) {
	unlock, err := lockMigrations(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	_, earlier, err := version(ctx, config, o) // another process may have migrated first
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	return migrations.Up(ctx, db, earlier)
}

// lockMigrations waits until this process may migrate; unlock lets the next one continue. The lock is a row lock, held
// by a transaction that does nothing else. It ends with its process and works with every pooler and engine. Waiting
// processes poll: one that waited inside a transaction would keep a pooler's connection from the process that migrates.
func lockMigrations(ctx context.Context, config *pgx.ConnConfig) (unlock func() error, err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	release := func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
		defer cancel()
		_, _ = conn.Exec(ctx, `rollback`) // closing the connection undoes it, too
		return conn.Close(ctx)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, release())
		}
	}()
	if err := ignoreExists(
		conn.Exec(ctx,
			`create table if not exists gatehouse_migrating (one boolean not null primary key)`)); err != nil {
		return nil, fmt.Errorf("creating the migration lock: %w", err)
	}
	if _, err := conn.Exec(ctx, `insert into gatehouse_migrating (one) values (true)
		on conflict (one) do nothing`); err != nil {
		return nil, fmt.Errorf("creating the migration lock: %w", err)
	}
	for {
		mine, err := tryMigrationLock(ctx, conn)
		if err != nil {
			return nil, fmt.Errorf("waiting for the migration lock: %w", err)
		}
		if mine {
			return release, nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return nil, fmt.Errorf("waiting for the migration lock: %w", err)
		}
	}
}

// tryMigrationLock takes the lock if it is free, in a transaction that then stays open.
func tryMigrationLock(ctx context.Context, conn *pgx.Conn) (mine bool, err error) {
	tag, err := conn.Exec(ctx, `begin; set local idle_in_transaction_session_timeout = 0`)
	if err == nil {
		tag, err = conn.Exec(ctx, `select one from gatehouse_migrating where one for update skip locked`)
	}
	if err != nil || tag.RowsAffected() == 1 {
		return err == nil, err
	}
	_, err = conn.Exec(ctx, `rollback`)
	return false, err
}

// ignoreExists ignores the error of creating a table that another process has just created, which "if not exists" does
// not prevent.
func ignoreExists(_ pgconn.CommandTag, err error) error {
	var theirs *pgconn.PgError
	if errors.As(err, &theirs) && (theirs.Code == "23505" || theirs.Code == "42P07" || theirs.Code == "42710") {
		return nil
	}
	return err
}

// unlockTimeout limits the time for unlocking.
const unlockTimeout = 5 * time.Second
