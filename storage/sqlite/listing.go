package sqlite

import "strings"

// conditions of a listing, joined by and. The first one is on seq alone and makes even a listing of everything a walk along the
// key.
type conditions struct {
	parts []string
	args  []any
}

// is adds column = value, unless value is empty.
func (c *conditions) is(column, value string) {
	if value != "" {
		c.and(column+" = ?", value)
	}
}

func (c *conditions) and(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

// in adds that the column is one of values, unless there are none.
func in[T ~string](c *conditions, column string, values []T) {
	if values != nil {
		c.and(column+" in (select value from json_each(?))", asJSON{values})
	}
}

// sql gives the query's end: where, latest first, at most n rows (0 = all), and its arguments.
func (c *conditions) sql(n int) (string, []any) {
	return " where " + strings.Join(append([]string{"seq > 0"}, c.parts...), " and ") + " order by seq desc limit ?", append(c.args, limit(n))
}
