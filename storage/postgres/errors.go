package postgres

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// canRepeat reports whether the server undid the transaction because of another one, so that it may be run again: also
// if that one has just added a post with the same key.
func canRepeat(err error) bool {
	var theirs *pgconn.PgError
	return errors.As(err, &theirs) && !errors.Is(err, errUnknown) &&
		(theirs.Code == "40001" || theirs.Code == "40P01" ||
			theirs.Code == "23505" && theirs.ConstraintName == "outbox_key_key")
}

// answered reports whether the server itself sent the error, so that its connection did not fail.
func answered(err error) bool {
	var theirs *pgconn.PgError
	return errors.As(err, &theirs) && !endsConnection(theirs)
}

// endsConnection reports whether a server, or a pooler before it, ends the connection with this error. What ran on it
// may have been committed just before.
func endsConnection(e *pgconn.PgError) bool {
	switch cmp.Or(e.SeverityUnlocalized, e.Severity) {
	case "FATAL", "PANIC":
		return true
	}
	return strings.HasPrefix(e.Code, "08") || strings.HasPrefix(e.Code, "57P") || e.Code == "25P03" || e.Code == "40003"
}

// notSupported is the SQLSTATE of what the server can't do.
const notSupported = "0A000"

// codeOf is the SQLSTATE of an error; "" if the server did not send it.
func codeOf(err error) string {
	var theirs *pgconn.PgError
	if !errors.As(err, &theirs) {
		return ""
	}
	return theirs.Code
}

// errStandby marks the refusal of a server that is a standby.
var errStandby = errors.New("the server is a standby")

// isStandby reports whether a server that takes no changes has refused one, so that another server may take it.
func isStandby(err error) bool {
	return errors.Is(err, errStandby) || codeOf(err) == "25006"
}

// translate turns a driver's error into a core.Error by its type and SQLSTATE; every error that leaves this package
// passes through it once. A core.Error, or an error of the caller's context, is returned as it is. No message names the
// server, the role or the database, since they come from a URL that may hold a password.
func translate(err error) error {
	var ours *core.Error
	var theirs *pgconn.PgError
	switch {
	case err == nil, errors.As(err, &ours):
		return err
	case errors.Is(err, errUnknown):
		return core.Wrap(core.StoreBusy, err,
			"The connection to the database was lost while a change was being stored, so the change may or may not "+
				"be stored. Trying again is safe.")
	case errors.Is(err, errStandby):
		return core.Wrap(core.StoreBusy, err, "%s", isReadOnly)
	case errors.Is(err, errEncoding):
		return core.Wrap(core.StoreUnreadable, err, "%s", hasEncoding)
	case errors.As(err, &theirs):
		m := meaningOf(theirs.Code)
		if theirs.Code == "XX001" || theirs.Code == "XX002" { // of data, of an index
			err = sqlstore.Damage{Err: err}
		}
		return core.Wrap(m.category, err, "%s", m.sentence)
	case errors.Is(err, errTimeout):
		return core.Wrap(core.StoreBusy, err,
			"The database did not answer in time. Try again; if this continues, check its load and the network.")
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, puddle.ErrClosedPool):
		return core.Wrap(core.Internal, err, "The database is closed: gatehouse is stopping.")
	case unreachable(err):
		return core.Wrap(core.StoreBusy, err,
			"Can't reach the database. Check that it is running and that the network allows the connection; "+
				"gatehouse serve continues by itself once it is back, other commands must be run again.")
	case errors.Is(err, context.DeadlineExceeded):
		return err
	}
	var unread pgx.ScanArgError
	if errors.As(err, &unread) {
		return core.Wrap(core.Internal, err, "What the database holds can't be read.")
	}
	return core.Wrap(core.StoreBusy, err, "%s", "The connection to the database fails in a way that gatehouse does "+
		"not know. "+goesOn+" The log has the error.")
}

// unreachable reports whether a connection could not be made or was lost.
func unreachable(err error) bool {
	return connecting(err) || isNetworkError(err)
}

// connecting reports whether no connection could be made.
func connecting(err error) bool {
	var failed *pgconn.ConnectError
	return errors.As(err, &failed)
}

// connectionDied reports whether an established connection was lost.
func connectionDied(err error) bool {
	var theirs *pgconn.PgError
	switch {
	case err == nil || connecting(err) || errors.Is(err, errTimeout):
		return false
	case errors.As(err, &theirs):
		return endsConnection(theirs)
	}
	return isNetworkError(err)
}

func isNetworkError(err error) bool {
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	return errors.As(err, &network) || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, pgx.ErrTxClosed)
}

// meaning is the category and the message of a SQLSTATE.
type meaning struct {
	category core.Category
	sentence string
}

// The sentences that several codes share.
const (
	isAway = "The database is stopping, starting or failing over to another server. Trying again is safe; " +
		"gatehouse serve continues by itself once it is back, other commands must be run again."
	isBusy = "The database waits for another transaction, or has reached its limit of connections or memory. " +
		"Try again; if this continues, check its connections, its locks and its limits."
	isFull   = "There is no space left for the database. Free space on its disk; nothing that was stored is lost."
	isBroken = "The database's server could not read or write its disk. Stop gatehouse, check the server's log, " +
		"and restore the database from a backup."
	notAllowed = "The database refuses gatehouse: a wrong user or password, no such database, or a missing " +
		"permission. Check GATEHOUSE_DATABASE_URL, and that the role may connect, create tables in its schema, and " +
		"read and write them."
	isOurs    = "gatehouse asked the database for something wrong. Please report it, with the error in the log."
	isForeign = "The database's tables are not as gatehouse created them: some are missing, or belong to another " +
		"program. Give gatehouse a database or a schema of its own, or restore the right one from a backup."
	isRefused = "A trigger of the database refuses the change. gatehouse makes no triggers; remove it, or the " +
		"reason why it refuses."
	isReadOnly = "The database accepts no changes: its server is a standby or is read-only. gatehouse serve " +
		"continues by itself once a server of GATEHOUSE_DATABASE_URL is the primary; it may name several, such as " +
		"postgres://USER@ONE,TWO/DATABASE."
	goesOn   = "gatehouse serve tries again, other commands must be run again."
	isPooler = "The database, or a pooler in front of it, reports an internal error (XX000). Poolers report so that " +
		"they know no such database or user, or that no connection is free: check the pooler's log, its users and " +
		"its size of the pool, then the server's log. " + goesOn
	hasEncoding = "The database's connections are not in UTF8, whatever gatehouse asks for. Remove the setting " +
		"client_encoding: alter role ROLE reset client_encoding, the same for the database, and in the pooler's " +
		"configuration."
	notStorable = "A value is too long for a key, or contains a character that the database can't store (such as a " +
		"zero byte)."
)

// codes maps SQLSTATEs. A code that is missing is looked up by its class, its first two characters. What is not known
// for certain to fail again is a failure of the store, and so is a code that is not known (core.IsStoreFailure).
var codes = map[string]meaning{
	"08": {core.StoreBusy, isAway}, "57P01": {core.StoreBusy, isAway}, "57P02": {core.StoreBusy, isAway},
	"57P03": {core.StoreBusy, isAway},
	"57P05": {core.StoreBusy, isAway}, "25P03": {core.StoreBusy, isAway}, "25P04": {core.StoreBusy, isAway},
	"40003": {core.StoreBusy, isAway},
	"40":    {core.StoreBusy, isBusy}, "53": {core.StoreBusy, isBusy}, "55P03": {core.StoreBusy, isBusy},
	"55006": {core.StoreBusy, isBusy}, "57014": {core.StoreBusy, isBusy},
	"53100": {core.StoreFull, isFull}, "25006": {core.StoreBusy, isReadOnly},
	"58": {core.StoreUnreadable, isBroken}, "XX001": {core.StoreUnreadable, isBroken},
	"XX002": {core.StoreUnreadable, isBroken},
	"28":    {core.StoreUnreadable, notAllowed}, "3D000": {core.StoreUnreadable, notAllowed},
	"3F000": {core.StoreUnreadable, notAllowed}, "42501": {core.StoreUnreadable, notAllowed},
	"57P04": {core.StoreUnreadable, notAllowed},
	"P0":    {core.StoreBusy, isRefused},
	"42":    {core.StoreUnreadable, isForeign},
	"XX":    {core.StoreBusy, isPooler},
	"22":    {core.Internal, isOurs}, "23": {core.Internal, isOurs}, "42601": {core.Internal, isOurs},
	"22021": {core.Invalid, notStorable}, "22P05": {core.Invalid, notStorable}, "54000": {core.Invalid, notStorable},
}

func meaningOf(code string) meaning {
	m, ok := codes[code]
	if !ok && len(code) == 5 {
		m, ok = codes[code[:2]]
	}
	if !ok {
		return meaning{core.StoreBusy, "The database answers with an error that gatehouse does not know (SQLSTATE " +
			code + "). " + goesOn + " The log has the error, and the server's log more."}
	}
	return m
}
