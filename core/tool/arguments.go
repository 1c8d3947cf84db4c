package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Bounds of what a model is told about wrong arguments, and of the numbers in them.
const (
	maxFaults   = 8
	maxFault    = 200 // characters
	maxExponent = 400
	maxDigits   = 100
)

// unfit says why arguments can't be checked against the schema, in words that hold nothing of them; "" if they can.
func (t Tool) unfit(args *strictjson.Value) string {
	if args.Kind != strictjson.Object {
		return "they must be a JSON object"
	}
	if bulk := tooMuch(args); bulk != "" {
		return bulk
	}
	for _, name := range t.Fixed {
		if args.Get(name) != nil {
			return name + " is fixed by the tool; leave it out"
		}
	}
	if hasHugeNumber(args) {
		return "they have a number with too many digits"
	}
	if t.compiled != nil && tooCostly(t.compiled, args.Any()) {
		return "they are too much to be checked against it; send less in one call"
	}
	return ""
}

// faults says what is wrong with arguments that can be checked, as a whole and of each argument the first; "" if
// nothing is.
func (t Tool) faults(args *strictjson.Value) (string, core.ArgumentFaults) {
	var wrong *jsonschema.ValidationError
	if t.compiled == nil || !errors.As(t.compiled.Validate(args.Any()), &wrong) {
		return "", nil
	}
	var texts []string
	one := core.ArgumentFaults{}
	found := leaves(wrong)
	slices.SortStableFunc(found, func(a, b *jsonschema.ValidationError) int { // the validator's order is a map's
		return slices.Compare(a.InstanceLocation, b.InstanceLocation)
	})
	for _, leaf := range found {
		if len(texts) == maxFaults {
			texts = append(texts, "and more")
			break
		}
		text := describe(leaf)
		if at := leaf.InstanceLocation; len(at) > 0 && one[at[0]] == "" {
			one[at[0]] = short(strings.TrimPrefix(strings.Join(at[1:], "/")+": "+text, ": "))
		}
		if at := strings.Join(leaf.InstanceLocation, "/"); at != "" {
			text = at + ": " + text
		}
		texts = append(texts, short(text))
	}
	return strings.Join(texts, "; "), one
}

// leaves are the errors that have no causes of their own. Of several alternatives, those for another type of value are
// left out if there is one for this type.
func leaves(e *jsonschema.ValidationError) (all []*jsonschema.ValidationError) {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var otherTypes []*jsonschema.ValidationError
	alternatives := isAlternatives(e)
	for _, cause := range e.Causes {
		below := leaves(cause)
		if _, ok := below[0].ErrorKind.(*kind.Type); ok && alternatives &&
			len(below[0].InstanceLocation) == len(e.InstanceLocation) {
			otherTypes = append(otherTypes, below...)
		} else {
			all = append(all, below...)
		}
	}
	if len(all) == 0 {
		return otherTypes
	}
	return all
}

func isAlternatives(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return true
	}
	return false
}

var english = message.NewPrinter(language.English)

// describe says what is wrong with one value.
func describe(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return "missing " + strings.Join(k.Missing, ", ")
	case *kind.AdditionalProperties:
		return "unknown " + strings.Join(k.Properties, ", ")
	case *kind.Type:
		return fmt.Sprintf("this is a JSON %s, not %s", k.Got, strings.Join(k.Want, " or "))
	}
	return e.ErrorKind.LocalizedString(english)
}

func short(text string) string {
	if r := []rune(text); len(r) > maxFault {
		return string(r[:maxFault-1]) + "…"
	}
	return text
}

// hasHugeNumber reports whether there is a number whose digits, written in full, would take too much memory.
func hasHugeNumber(v *strictjson.Value) bool {
	if v.Kind == strictjson.Number {
		digits, exponent := numberParts(v.Number)
		return digits > maxDigits || exponent > maxExponent || exponent < -maxExponent
	}
	return slices.ContainsFunc(v.Items, hasHugeNumber) ||
		slices.ContainsFunc(v.Members, func(m strictjson.Member) bool {
			return hasHugeNumber(m.Value)
		})
}

// numberParts gives the number of digits that are written, and the exponent.
func numberParts(n json.Number) (digits, exponent int) {
	mantissa, power, _ := strings.Cut(strings.ToLower(string(n)), "e")
	if power != "" {
		exponent, _ = strconv.Atoi(power) // of one that is out of range it gives the largest or the smallest
	}
	return len(mantissa), exponent
}

// argument gives a text argument; "" if it is missing or not a text. The arguments were checked before.
func argument(args json.RawMessage, name string) string {
	v, err := strictjson.Parse(args)
	if err != nil {
		return ""
	}
	if s := v.Get(name); s != nil && s.Kind == strictjson.String {
		return s.String
	}
	return ""
}
