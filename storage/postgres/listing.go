package postgres

import (
	"strconv"
	"strings"
)

// conditions of a listing, joined by and. Each argument stands as ? in its part.
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

// and adds a part with its arguments.
func (c *conditions) and(part string, args ...any) {
	for _, a := range args {
		c.args = append(c.args, a)
		part = strings.Replace(part, "?", "$"+strconv.Itoa(len(c.args)), 1)
	}
	c.parts = append(c.parts, part)
}

// in adds that the column is one of values, unless there are none.
func in[T ~string](c *conditions, column string, values []T) {
	if values == nil {
		return
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	c.and(column+" = any(?::text[])", texts)
}

// sql gives the query's end: where, the highest of the column first, at most n rows (0 = all), and its arguments.
func (c *conditions) sql(column string, n int) (string, []any) {
	where := ""
	if len(c.parts) > 0 {
		where = " where " + strings.Join(c.parts, " and ")
	}
	args := append(c.args, limit(n))
	return where + " order by " + column + " desc limit $" + strconv.Itoa(len(args)), args
}
