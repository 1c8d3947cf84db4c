package postgres

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// session are the settings of a connection: a commit is on disk before it is answered, whatever the defaults of the
// server, the database or the role; waits for locks are limited; a process that hangs in a transaction loses its locks.
const session = `set synchronous_commit = on; set lock_timeout = '5s'; set idle_in_transaction_session_timeout = '15s'`

// planning are settings that other engines may not know: a statement is planned once, for any arguments, and from
// indexes even while its tables are small, so that the plan is still right when they have grown. The tests check these
// plans.
const planning = `set plan_cache_mode = force_generic_plan; set enable_seqscan = off; set jit = off`

// direct is the key of a connection's custom data that is set if the server itself is at its other end.
const direct = "gatehouse.direct"

func isDirect(conn *pgx.Conn) bool { return conn.PgConn().CustomData()[direct] != nil }

// settle gives a new connection its settings, if it is one to the server itself: a pooler, which may run each
// transaction on another connection, does not know the number of the server's process.
func settle(ctx context.Context, conn *pgx.Conn) error {
	var pid uint32
	var theirs *pgconn.PgError
	err := conn.QueryRow(ctx, `select pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&pid)
	switch {
	case errors.As(err, &theirs) && !endsConnection(theirs):
		return nil
	case err != nil || pid != conn.PgConn().PID():
		return err
	}
	if _, err := conn.Exec(ctx, session); err != nil {
		return err
	}
	conn.PgConn().CustomData()[direct] = true
	if _, err := conn.Exec(ctx, planning); err != nil && !answered(err) {
		return err
	}
	return nil
}

// preparing is what the connections of a process know of prepared statements.
type preparing struct {
	refused atomic.Bool // a pooler does not keep them
	pools   []*pgxpool.Pool
	log     *slog.Logger
}

// mode sets the mode of a new connection.
func (p *preparing) mode(_ context.Context, config *pgx.ConnConfig) error {
	if p.refused.Load() {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	return nil
}

// isLost reports whether an error means that a prepared statement is not on the connection that a pooler chose, or is
// there already. The transaction is undone then. New connections prepare nothing.
func (p *preparing) isLost(err error) bool {
	var theirs *pgconn.PgError
	if !errors.As(err, &theirs) || theirs.Code != "26000" && theirs.Code != "42P05" {
		return false
	}
	if p.refused.CompareAndSwap(false, true) {
		p.log.Warn("the connections to the database don't keep prepared statements, as behind a pooler in " +
			"transaction mode; gatehouse goes on without them, and each statement costs the server more. A pooler " +
			"that can keep them (pgbouncer from 1.21 on: max_prepared_statements) is faster; " +
			"default_query_exec_mode=exec in GATEHOUSE_DATABASE_URL does without them from the start")
		for _, pool := range p.pools {
			pool.Reset()
		}
	}
	return true
}

// planChanged reports whether an error means that another process has migrated the schema since a statement was
// prepared. The transaction is undone; the statement is prepared anew.
func planChanged(err error) bool {
	var theirs *pgconn.PgError
	return errors.As(err, &theirs) && theirs.Code == "0A000" && theirs.Routine == "RevalidateCachedQuery"
}
