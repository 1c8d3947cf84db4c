package sqlstore

import (
	"context"
	"math"
	"strconv"
	"strings"
)

// conditions are the where clause of a listing, joined by "and".
type conditions struct {
	parts []string
	args  []any
}

// arg adds an argument and returns its placeholder.
func (c *conditions) arg(v any) string {
	c.args = append(c.args, v)
	return "$" + strconv.Itoa(len(c.args))
}

// and adds a condition; its arguments come from arg.
func (c *conditions) and(part string) { c.parts = append(c.parts, part) }

// all joins the conditions.
func (c *conditions) all() string { return strings.Join(c.parts, " and ") }

// is adds column = value, unless value is empty.
func (c *conditions) is(column, value string) {
	if value != "" {
		c.and(column + " = " + c.arg(value))
	}
}

// in adds that the column is one of values, unless values is nil.
func in[T ~string | ~int64](c *conditions, column string, values []T) {
	switch {
	case values == nil:
	case len(values) == 0:
		c.and("false")
	default:
		args := make([]string, len(values))
		for i, v := range values {
			args[i] = c.arg(v)
		}
		c.and(column + " in (" + strings.Join(args, ", ") + ")")
	}
}

// list returns the rows of a query that meet the conditions: those with the highest values of column first, at most n
// (0: all). The condition on the column makes even an unfiltered listing use the column's index.
func list[T any](
	ctx context.Context, s *Store, scan func(func(...any) error) (T, error), query string, where conditions,
	column string, n int,
) ([]T, error) {
	where.and(column + " > 0")
	query += " where " + where.all() + " order by " + column + " desc limit " + where.arg(limit(n))
	return readAll(ctx, s, scan, query, where.args...)
}

// limit returns n, or the largest limit if n is "no limit".
func limit(n int) int {
	if n <= 0 {
		return math.MaxInt32
	}
	return n
}
