package policy

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"reflect"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm/runtime"
)

// strictFunctions are the functions that strict puts into conditions. Their names can't be written in one.
func strictFunctions() []expr.Option {
	return []expr.Option{
		expr.Function("$get", func(p ...any) (any, error) {
			return get(p[0], p[1], p[2].(string))
		}, new(func(any, any, string) any)),
		expr.Function("$peek", func(p ...any) (any, error) { return peek(p[0], p[1]) }, new(func(any, any) any)),
		expr.Function("$equal", func(p ...any) (any, error) {
			return equal(p[0], p[1], p[2].(bool) || p[3].(bool))
		}, new(func(any, any, bool, bool) bool)),
		expr.Function("$in", func(p ...any) (any, error) {
			return in(p[0], p[1], p[2].(bool), p[3].(bool))
		}, new(func(any, any, bool, bool) bool)),
		expr.Function("$text", func(p ...any) (any, error) {
			return text(p[0], p[1].(bool))
		}, new(func(any, bool) any)),
		expr.Function("$calculate", func(p ...any) (any, error) {
			return calculate(p[0].(string), p[1], p[2])
		}, new(func(string, any, any) any)),
		expr.Function("$abs", func(p ...any) (any, error) { return absolute(p[0]) }, new(func(any) any)),
		expr.Function("$int", func(p ...any) (any, error) { return whole(p[0]) }, new(func(any) any)),
		expr.Function("$sum", func(p ...any) (any, error) { return sum(p[0]) }, new(func(any) any)),
	}
}

// get is base[key]; what is not there is an error. path is how the condition writes it.
func get(base, key any, path string) (any, error) {
	value, found, err := lookup(base, key)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case !found:
		return nil, fmt.Errorf("%s is not there", path)
	}
	return usable(value)
}

// peek is base[key], or nil if it is not there; but there must be a base.
func peek(base, key any) (any, error) {
	value, _, err := lookup(base, key)
	if err != nil {
		return nil, err
	}
	return usable(value)
}

// usable fails for what only stands for a value.
func usable(value any) (any, error) {
	if n, ok := value.(inexact); ok {
		return nil, n.failure()
	}
	return value, nil
}

func lookup(base, key any) (value any, found bool, err error) {
	switch of := base.(type) {
	case nil:
		return nil, false, errors.New("there is no value to take it from")
	case map[string]any:
		name, ok := key.(string)
		if !ok {
			return nil, false, fmt.Errorf("%s is no key of an object", kindOf(key))
		}
		value, found = of[name]
		return value, found, nil
	case []any:
		at, ok := key.(int)
		if !ok {
			return nil, false, fmt.Errorf("%s is no place in a list", kindOf(key))
		}
		if at < 0 {
			at += len(of)
		}
		if at < 0 || at >= len(of) {
			return nil, false, nil
		}
		return of[at], true, nil
	case string, bool, int, float64, inexact:
		return nil, false, fmt.Errorf("%s has no parts", kindOf(base))
	}
	return runtime.Fetch(base, key), true, nil // what functions return; it panics where there is nothing
}

// kindOf names the kind of a value. Values of one kind can be compared.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a bool"
	case inexact:
		return "an inexact number"
	}
	switch reflect.TypeOf(value).Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map:
		return "an object"
	}
	return "a " + reflect.TypeOf(value).String()
}

// equal compares values of one kind. With null it compares only if the condition says that a value may be absent.
func equal(a, b any, absent bool) (bool, error) {
	x, y := kindOf(a), kindOf(b)
	switch {
	case hasInexact(a) || hasInexact(b):
		return false, errors.New("a number can't be represented exactly")
	case absent && (a == nil || b == nil), x == y:
		return runtime.Equal(a, b), nil
	}
	return false, fmt.Errorf("%s is compared with %s", x, y)
}

// hasInexact reports whether an inexact number is in a value.
func hasInexact(value any) bool {
	switch v := value.(type) {
	case inexact:
		return true
	case []any:
		for _, item := range v {
			if hasInexact(item) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if hasInexact(item) {
				return true
			}
		}
	}
	return false
}

// in looks for a key of an object or an item of a list. If no item is of the kind of what it looks for, that is an
// error.
func in(what, where any, absent, nowhere bool) (bool, error) {
	if where == nil {
		if nowhere {
			return false, nil
		}
		return false, errors.New("in is used on null")
	}
	list := reflect.ValueOf(where)
	if kind := list.Kind(); kind != reflect.Slice && kind != reflect.Array {
		if _, isName := what.(string); !isName {
			return false, fmt.Errorf("%s is no key of an object", kindOf(what))
		}
		return runtime.In(what, where), nil
	}
	comparable := list.Len() == 0 || what == nil && absent
	for i := range list.Len() {
		item := list.Index(i).Interface()
		if hasInexact(item) || hasInexact(what) {
			return false, errors.New("a number can't be represented exactly")
		}
		if kindOf(item) == kindOf(what) {
			comparable = true
			if runtime.Equal(item, what) {
				return true, nil
			}
		}
	}
	if !comparable {
		return false, fmt.Errorf("%s is looked for where there is none", kindOf(what))
	}
	return false, nil
}

// text is a string, or nil if it may be absent.
func text(value any, absent bool) (any, error) {
	if _, ok := value.(string); ok || value == nil && absent {
		return value, nil
	}
	return nil, fmt.Errorf("%s is used as a string", kindOf(value))
}

var errOverflow = errors.New("the result is too large for an integer")

// calculate applies an operator to numbers. What overflows, and a division by zero, is an error.
func calculate(operator string, a, b any) (any, error) {
	x, xInt := a.(int)
	y, yInt := b.(int)
	switch operator {
	case "+":
		if s := x + y; xInt && yInt && (s > x) != (y > 0) {
			return nil, errOverflow
		}
		return runtime.Add(a, b), nil
	case "-":
		if d := x - y; xInt && yInt && (d < x) != (y > 0) {
			return nil, errOverflow
		}
		return runtime.Subtract(a, b), nil
	}
	switch operator {
	case "/":
		return finite(runtime.Divide(a, b))
	case "**", "^":
		return finite(runtime.Exponent(a, b))
	}
	if xInt && yInt && overflows(x, y) {
		return nil, errOverflow
	}
	return runtime.Multiply(a, b), nil
}

// finite fails for infinities and for what is no number at all.
func finite(f float64) (float64, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, errors.New("the result is no finite number")
	}
	return f, nil
}

// absolute is an operand of abs.
func absolute(value any) (any, error) {
	if value == math.MinInt {
		return nil, errOverflow
	}
	return value, nil
}

// whole is an operand of int.
func whole(value any) (any, error) {
	if f, ok := value.(float64); ok && (f >= math.MaxInt64 || f < math.MinInt64) {
		return nil, errOverflow
	}
	return value, nil
}

// overflows reports whether a product does not fit an int.
func overflows(x, y int) bool {
	if x == math.MinInt || y == math.MinInt {
		return x != 0 && y != 0 && x != 1 && y != 1
	}
	high, low := bits.Mul64(uint64(max(x, -x)), uint64(max(y, -y)))
	return high != 0 || low > math.MaxInt64
}

// sum adds the items of a list.
func sum(items any) (any, error) {
	list := reflect.ValueOf(items)
	if kind := list.Kind(); kind != reflect.Slice && kind != reflect.Array {
		return nil, fmt.Errorf("%s has no sum", kindOf(items))
	}
	var total any = 0
	for i := range list.Len() {
		item := list.Index(i).Interface()
		if kindOf(item) != "a number" {
			return nil, fmt.Errorf("%s is no number to add", kindOf(item))
		}
		var err error
		if total, err = calculate("+", total, item); err != nil {
			return nil, err
		}
	}
	return total, nil
}
