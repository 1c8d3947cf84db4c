// Package copies fills databases of SQLite with many copies of what is in them, for measures of large ones.
package copies

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver
)

// conversation is the one that is copied: the terminal's.
const conversation = "console:default"

// tables are those whose rows are copied.
var tables = []string{
	"queues", "events", "sessions", "messages", "paused", "approvals", "outbox", "destinations", "evidence",
}

// ids are the columns whose values are the same in all rows that refer to one.
var ids = []string{"id", "key", "invocation", "approval", "signal", "subject"}

// Make adds n copies of all rows of the terminal's conversation to a database that no process has open: ids and keys
// get the number of their copy. With an age, every time in the database is moved into the past by it.
func Make(ctx context.Context, file string, n int, age time.Duration) error {
	db, err := sql.Open("sqlite3", "file:"+file+"?_sync=off&_foreign_keys=off")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, table := range tables {
		if err := copyRows(ctx, db, table, n, age); err != nil {
			return fmt.Errorf("copying the rows of %s: %w", table, err)
		}
	}
	return nil
}

func copyRows(ctx context.Context, db *sql.DB, table string, n int, age time.Duration) error {
	const columns = "select name, type, name = 'seq' and pk = 1 from pragma_table_info(?) order by cid"
	rows, err := db.QueryContext(ctx, columns, table)
	if err != nil {
		return err
	}
	defer rows.Close()
	var names, values, older []string
	for rows.Next() {
		var name, kind string
		var rowid bool
		if err := rows.Scan(&name, &kind, &rowid); err != nil {
			return err
		}
		if strings.HasSuffix(name, "_at") && name != "ready_at" {
			older = append(older, fmt.Sprintf("%s = case when %[1]s > 0 then %[1]s - %d else %[1]s end", name, age))
		}
		if !rowid { // else the database gives it
			names, values = append(names, name), append(values, value(name, kind))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if age > 0 && len(older) > 0 {
		if _, err := db.ExecContext(ctx, "update "+table+" set "+strings.Join(older, ", ")); err != nil {
			return err
		}
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf(`
		with recursive n(i) as (select 1 where ? > 0 union all select i + 1 from n where i < ?)
		insert or ignore into %s (%s) select %s from n cross join %[1]s`,
		table, strings.Join(names, ", "), strings.Join(values, ", ")), n, n)
	return err
}

// value is the expression of a column in the copy i.
func value(name, kind string) string {
	renamed := fmt.Sprintf("replace(%s, '%s', '%[2]s' || i)", name, conversation)
	switch {
	case kind == "TEXT" && slices.Contains(ids, name):
		return fmt.Sprintf("case when %s = '' then '' when instr(%[1]s, '%s') > 0 then %s else %[1]s || '-' || i end",
			name, conversation, renamed)
	case kind == "TEXT":
		return renamed
	}
	return name
}
