package expr

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// decimal is an exact number: 0.DIGITS times ten to the power of point. Digits has no zeros at its ends; zero has none
// at all.
type decimal struct {
	negative bool
	digits   string
	point    int
	beyond   bool // the exponent is out of range, and point only as far as it can be: there is no String
}

// farthest is the largest exponent in range, on either side of zero.
const farthest = math.MaxInt / 4

// parseDecimal reads a number as JSON has it; also a leading "+", zeros at the front, and a point without digits on one
// side of it.
func parseDecimal(text string) (decimal, bool) {
	unsigned := strings.TrimLeft(text, "+-")
	if len(text)-len(unsigned) > 1 {
		return decimal{}, false
	}
	mantissa, exponent, beyond := unsigned, 0, false
	if e := strings.IndexAny(unsigned, "eE"); e >= 0 {
		power, err := strconv.ParseInt(unsigned[e+1:], 10, strconv.IntSize)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return decimal{}, false
		}
		mantissa, exponent = unsigned[:e], min(max(int(power), -farthest), farthest)
		beyond = exponent != int(power)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	if all == "" || strings.Trim(all, "0123456789") != "" {
		return decimal{}, false
	}
	digits := strings.TrimLeft(all, "0")
	d := decimal{
		negative: text[0] == '-', beyond: beyond, point: len(whole) - (len(all) - len(digits)) + exponent,
		digits: strings.TrimRight(digits, "0"),
	}
	if d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

func (d decimal) compare(other decimal) int {
	if s, o := d.sign(), other.sign(); s != o {
		return s - o
	}
	size := d.point - other.point
	if size == 0 {
		size = strings.Compare(d.digits, other.digits)
	}
	return size * d.sign()
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// String writes a number in range: integers without a point, and very large and very small numbers with an exponent.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	zeros := d.point - len(d.digits) // behind the digits
	switch {
	case zeros >= 0 && zeros <= 21:
		return sign + d.digits + strings.Repeat("0", zeros)
	case zeros < 0 && d.point > 0:
		return sign + d.digits[:d.point] + "." + d.digits[d.point:]
	case d.point <= 0 && d.point > -6:
		return sign + "0." + strings.Repeat("0", -d.point) + d.digits
	}
	text := sign + d.digits[:1]
	if len(d.digits) > 1 {
		text += "." + d.digits[1:]
	}
	return text + "e" + strconv.Itoa(d.point-1)
}
