package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// Names maps names to those that a vendor's API admits, and back. Our tools are named plugin.function; the APIs admit
// letters, digits, "_" and "-" only, up to a length, and for the names of arguments perhaps some more. A name that is
// admitted already is itself on the wire. Any other one has its "." as "__" and other characters as "_"; one that would
// then be too long, or meet another name of the table, ends in a part of its SHA-256.
//
// Within one table no two names meet, so each has its way back. Equal sets of names have equal tables.
type Names struct{ toWire, toOurs map[string]string }

// digestLength is the number of hexadecimal digits of a digest that a name ends in.
const digestLength = 10

// NewNames makes the table of a request for an API that admits names of 1 to longest characters (at least 16): of the
// tools, of the calls in the messages, and of the choice.
func NewNames(r Request, longest int) Names { return MapNames(r.names(), longest, "") }

// MapNames makes the table of names, each of which is there once, for an API that admits 1 to longest characters (at
// least 16): letters, digits, "_", "-" and those of also.
func MapNames(names []string, longest int, also string) Names {
	n := Names{toWire: map[string]string{}, toOurs: map[string]string{}}
	wanted := map[string][]string{} // the names that have the same simple form
	for _, name := range names {
		if admitted(name, longest, also) {
			n.add(name, name)
		} else {
			simple := simpleName(name, also)
			wanted[simple] = append(wanted[simple], name)
		}
	}
	for _, simple := range slices.Sorted(maps.Keys(wanted)) {
		names := wanted[simple]
		if len(names) == 1 && admitted(simple, longest, also) && n.free(simple) {
			n.add(names[0], simple)
			delete(wanted, simple)
		}
	}
	for _, simple := range slices.Sorted(maps.Keys(wanted)) {
		slices.Sort(wanted[simple])
		for _, name := range wanted[simple] {
			n.add(name, n.withDigest(name, simple, longest))
		}
	}
	return n
}

// Wire gives the name on the wire of a name of the table.
func (n Names) Wire(name string) string { return either(n.toWire, name) }

// Ours gives the name that a name on the wire stands for. One that the table does not have is given back as it is: a
// model may invent names.
func (n Names) Ours(wire string) string { return either(n.toOurs, wire) }

// Known reports whether the table has a name on the wire.
func (n Names) Known(wire string) bool { return !n.free(wire) }

func either(table map[string]string, name string) string {
	if other, known := table[name]; known {
		return other
	}
	return name
}

func (n Names) add(ours, wire string) { n.toWire[ours], n.toOurs[wire] = wire, ours }

func (n Names) free(wire string) bool { _, taken := n.toOurs[wire]; return !taken }

// withDigest ends the simple name in a part of the name's digest: a longer part while the result is another name of the
// request.
func (n Names) withDigest(name, simple string, longest int) string {
	sum := sha256.Sum256([]byte(name))
	digits := hex.EncodeToString(sum[:])
	for length := min(digestLength, longest-1); ; length++ {
		if length >= min(len(digits), longest) { // only where somebody made names for this
			sum = sha256.Sum256(sum[:])
			digits, length = hex.EncodeToString(sum[:]), digestLength
		}
		wire := simple[:min(len(simple), longest-length-1)] + "_" + digits[:length]
		if n.free(wire) {
			return wire
		}
	}
}

// names is every tool's name that a request has, each once.
func (r Request) names() []string {
	all := map[string]bool{}
	for _, t := range r.Tools {
		all[t.Name] = true
	}
	for _, m := range r.Messages {
		for _, c := range m.ToolCalls {
			all[c.Name] = true
		}
	}
	if r.Choice.Tool != "" {
		all[r.Choice.Tool] = true
	}
	delete(all, "")
	return slices.Collect(maps.Keys(all))
}

func admitted(name string, longest int, also string) bool {
	return name != "" && len(name) <= longest && !strings.ContainsFunc(name, func(c rune) bool {
		return isForeign(c, also)
	})
}

func isForeign(c rune, also string) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' &&
		!strings.ContainsRune(also, c)
}

// simpleName replaces what is not admitted. The result has only admitted characters of one byte each.
func simpleName(name, also string) string {
	if isForeign('.', also) {
		name = strings.ReplaceAll(name, ".", "__")
	}
	return strings.Map(func(c rune) rune {
		if isForeign(c, also) {
			return '_'
		}
		return c
	}, name)
}
