package expr

import (
	"encoding/json"
	"strings"
)

// truth is whether a value alone makes a condition hold.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return strings.TrimSpace(v) != ""
	}
	return true
}

func compare(left any, operator string, right any) bool {
	if left == nil || right == nil {
		same := left == nil && right == nil
		return operator == "==" && same || operator == "!=" && !same
	}
	order := orderOf(left, right)
	switch operator {
	case "==":
		return order == 0
	case "!=":
		return order != 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	}
	return order >= 0
}

func orderOf(left, right any) int {
	l, isNumber := decimalOf(left)
	if r, both := decimalOf(right); both && isNumber {
		return l.compare(r)
	}
	return strings.Compare(textOf(left), textOf(right))
}

func decimalOf(v any) (decimal, bool) {
	switch v := v.(type) {
	case json.Number:
		return parseDecimal(string(v))
	case string:
		return parseDecimal(strings.TrimSpace(v))
	}
	return decimal{}, false
}
