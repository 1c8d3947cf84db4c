package llm

import (
	"math/big"
	"strings"

	"gatehouse/core/strictjson"
)

// equal compares two values as they are decoded: objects without order, lists in order, numbers by value.
func equal(a, b *strictjson.Value) bool {
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	switch a.Kind {
	case strictjson.Number:
		return decimalOf(string(a.Number)) == decimalOf(string(b.Number))
	case strictjson.String:
		return a.String == b.String
	case strictjson.Bool:
		return a.Bool == b.Bool
	}
	for i := range a.Items {
		if !equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, m := range a.Members {
		if other := b.Get(m.Key); other == nil || !equal(m.Value, other) {
			return false
		}
	}
	return true
}

// decimal is a number as sign, digits without zeros around them, and the exponent of the last digit. Equal numbers have
// equal ones, of any size: nothing is rounded.
type decimal struct{ sign, digits, exponent string }

func decimalOf(number string) decimal {
	var d decimal
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		d.sign, number = "-", rest
	}
	mantissa, power := number, "0"
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		mantissa, power = number[:i], strings.TrimPrefix(number[i+1:], "+")
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.digits = strings.TrimRight(digits, "0")
	if d.digits == "" {
		return decimal{digits: "0"} // also for -0
	}
	exponent, _ := new(big.Int).SetString(power, 10)
	exponent.Add(exponent, big.NewInt(int64(len(digits)-len(d.digits)-len(fraction))))
	d.exponent = exponent.String()
	return d
}
