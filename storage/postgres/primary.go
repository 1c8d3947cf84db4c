package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

const utf8 = "UTF8"

// errEncoding means that texts would be stored in another encoding than they are sent in.
var errEncoding = errors.New("the connection's client_encoding is not UTF8")

// primary checks a new connection: a server that only reads, because another one is the primary, is left for the next
// host of the URL, or for the next address of its name. What such a server answers to reads may be old, too. An engine
// that does not know the question has no standbys.
func primary(ctx context.Context, conn *pgconn.PgConn) error {
	if encoding := conn.ParameterStatus("client_encoding"); encoding != "" && encoding != utf8 {
		return errEncoding
	}
	results, err := conn.Exec(ctx, `select pg_is_in_recovery()`).ReadAll()
	switch {
	case answered(err):
		return nil
	case err != nil:
		return err
	case len(results) == 1 && len(results[0].Rows) == 1 && string(results[0].Rows[0][0]) == "t":
		return errStandby
	}
	return nil
}

// leave has the next transactions run on new connections, after one was refused by a standby: a pooler, or a name, may
// by now lead to the primary.
func (p *preparing) leave() {
	for _, pool := range p.pools {
		pool.Reset()
	}
}
