package strictjson

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// AppendRFC8785 appends v in the form of RFC 8785: no white space, keys sorted by their UTF-16 units, needless
// escapes removed, numbers as ECMAScript prints them.
//
// A number that a 64-bit float can't hold stays in the digits it was written in: an integer that is none of a
// float's, a fraction of more than 17 digits, one out of range. The RFC has no such numbers; rounded ones would let
// different arguments, such as 9007199254740992 and 9007199254740993, have one digest. A fraction of 17 digits or
// fewer is rounded to the nearest float, as the RFC wants it.
func (v *Value) AppendRFC8785(b []byte) []byte { return v.appendSorted(b, byUnits, appendNumber) }

// byUnits compares keys by their UTF-16 units.
func byUnits(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// floatDigits is how many significant digits name every float.
const floatDigits = 17

// smallestNormal is the smallest float that has all of its digits.
const smallestNormal = 0x1p-1022

// appendNumber writes a number as ECMAScript prints it, if a float holds it, and else as it is.
func appendNumber(b []byte, n string) []byte {
	f, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return append(b, n...)
	}
	written := decimalOf(n)
	rounds := written.power < 0 && len(written.digits) <= floatDigits && math.Abs(f) >= smallestNormal
	if !rounds && written != decimalOf(strconv.FormatFloat(f, 'e', -1, 64)) {
		return append(b, n...)
	}
	text, _ := json.Marshal(cmp.Or(f, 0)) // as ECMAScript; of a finite number it can't fail, and -0 is 0
	return append(b, text...)
}

// decimal is the value of a number: its significant digits, and the power of ten of the last one. The sign is left out.
type decimal struct {
	digits string
	power  int
}

func decimalOf(n string) decimal {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(n), "e")
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return decimal{}
	}
	power, _ := strconv.Atoi(exponent) // of one that is out of range it gives the largest or the smallest
	return decimal{significant, power - len(fraction) + len(digits) - len(significant)}
}
