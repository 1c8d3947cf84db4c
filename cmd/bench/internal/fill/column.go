package fill

import (
	"context"
	"database/sql"
)

// column is a column of a table.
type column struct {
	name, kind string
	rowid      bool // the row's number, which the database gives
}

func columnsOf(ctx context.Context, tx *sql.Tx, table string) (all []column, err error) {
	rows, err := tx.QueryContext(ctx,
		"select name, type, name = 'seq' and pk = 1 from pragma_table_info(?) order by cid", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.name, &c.kind, &c.rowid); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

// unique are the columns whose values are ids that do not hold the conversation's name. Where one refers to another,
// both get the same number.
var unique = map[string]bool{
	"id": true, "key": true, "invocation": true, "approval": true, "signal": true, "subject": true,
}

// copied is the value of the column in a copy; "": the database gives it.
func (c column) copied() string {
	switch {
	case c.rowid:
		return ""
	case c.kind != "TEXT":
		return c.name
	case unique[c.name]:
		return "case when " + c.name + " = '' then '' when instr(" + c.name + ", :mark) > 0 then replace(" + c.name +
			", :mark, :mark || i) else " + c.name + " || '-' || i end"
	}
	return "replace(" + c.name + ", :mark, :mark || i)"
}
