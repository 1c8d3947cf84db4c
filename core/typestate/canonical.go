package typestate

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// digestOf is "sha256:" and the hash of v's canonical JSON. v is a value of this package, which always has a JSON form.
func digestOf(v any) string { return core.Digest(canonical(v)) }

// Digest is the digest of a text as the contract writes it: "sha256:" and the hash in lower-case hex.
func Digest(text string) string { return core.Digest([]byte(text)) }

// canonical gives the canonical JSON of a value of this package: keys sorted by bytes, nothing between the tokens.
func canonical(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("typestate: %T has no JSON: %v", v, err)) // our own types: strings, flags, lists
	}
	tree, err := strictjson.Parse(text, strictjson.Trusted)
	if err != nil {
		panic(fmt.Sprintf("typestate: the JSON of %T: %v", v, err))
	}
	return appendCanonical(nil, tree)
}

// appendCanonical writes a tree. If a key of a free-form part is repeated, the last value counts.
func appendCanonical(b []byte, v *strictjson.Value) []byte { return v.AppendCanonical(b, appendNumber) }

// appendNumber writes a number as the reference's serde_json 1.0.87 does: 64-bit integers in plain decimal, other
// numbers as the shortest float that parses to the same value, with a fraction (100.0), and with an exponent from 1e16
// up and below 1e-5 (1e16, 1.5e-7).
func appendNumber(b []byte, n string) []byte {
	if !strings.ContainsAny(n, ".eE") && n != "-0" {
		if i, err := strconv.ParseInt(n, 10, 64); err == nil {
			return strconv.AppendInt(b, i, 10)
		}
		if u, err := strconv.ParseUint(n, 10, 64); err == nil {
			return strconv.AppendUint(b, u, 10)
		}
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil {
		panic("typestate: number out of range: " + n) // the decoder refuses those
	}
	if a := math.Abs(f); a != 0 && (a >= 1e16 || a < 1e-5) {
		text := strconv.FormatFloat(f, 'e', -1, 64)
		mantissa, exponent, _ := strings.Cut(text, "e")
		power, _ := strconv.Atoi(exponent)
		return append(b, mantissa+"e"+strconv.Itoa(power)...)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return append(b, text...)
}
