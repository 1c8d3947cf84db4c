package fill

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// tables are those that have rows of a conversation, in an order in which they can be written.
var tables = []string{
	"queues", "events", "sessions", "messages", "paused", "approvals", "outbox", "destinations", "evidence",
}

// Template is all rows of a conversation.
type Template struct {
	file    *File
	mark    string
	columns map[string][]column // by table
}

// Template takes the rows of a conversation as a template. Its name ends with mark, which is in all of its rows and in
// no other.
func (f *File) Template(ctx context.Context, mark string) (*Template, error) {
	t := &Template{file: f, mark: mark, columns: map[string][]column{}}
	return t, f.within(ctx, func(tx *sql.Tx) error {
		for _, table := range tables {
			columns, err := columnsOf(ctx, tx, table)
			if err != nil {
				return err
			}
			t.columns[table] = columns
			var marked []string
			for _, c := range columns {
				if c.kind == "TEXT" {
					marked = append(marked, "instr("+c.name+", :mark) > 0")
				}
			}
			create := "create temp table if not exists template_" + table + " as select * from " + table +
				" where false"
			refill := "delete from template_" + table + "; insert into template_" + table + " select * from " + table +
				" where " + strings.Join(marked, " or ")
			for _, statement := range []string{create, refill} {
				if _, err := tx.ExecContext(ctx, statement, sql.Named("mark", mark)); err != nil {
					return fmt.Errorf("reading the rows of %s: %w", table, err)
				}
			}
		}
		return nil
	})
}

// Copy adds copies of all rows: for each number from first up to, but not including, end, one with the mark and that
// number in place of the mark.
func (t *Template) Copy(ctx context.Context, first, end int) error {
	return t.file.within(ctx, func(tx *sql.Tx) error {
		for _, table := range tables {
			var names, values []string
			for _, c := range t.columns[table] {
				if value := c.copied(); value != "" {
					names, values = append(names, c.name), append(values, value)
				}
			}
			insert := fmt.Sprintf("with recursive n(i) as (select :first union all select i + 1 from n where i + 1 < "+
				":end) insert into %[1]s (%[2]s) select %[3]s from n cross join template_%[1]s",
				table, strings.Join(names, ", "), strings.Join(values, ", "))
			if _, err := tx.ExecContext(ctx, insert, sql.Named("first", first), sql.Named("end", end),
				sql.Named("mark", t.mark)); err != nil {
				return fmt.Errorf("copying the rows of %s: %w", table, err)
			}
		}
		return nil
	})
}
