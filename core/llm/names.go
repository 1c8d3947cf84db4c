package llm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// Names maps the names of a request's tools to names that a vendor's API admits, and back. Our names are plugin.function; the APIs admit
// letters, digits, "_" and "-" only, up to a length. A name that is admitted already is itself on the wire. Any other one has its "." as "__"
// and other characters as "_"; one that would then be too long, or meet another name of the request, ends in a part of its SHA-256.
//
// The table holds the names of the tools, of the calls in the messages, and of the choice. Within one request no two names meet, so each
// has its way back. Equal requests have equal tables.
type Names struct{ toWire, toOurs map[string]string }

// digestLength is the number of hexadecimal digits of a digest that a name ends in.
const digestLength = 10

// NewNames makes the table of a request for an API that admits names of 1 to longest characters (at least 16).
func NewNames(r Request, longest int) Names {
	n := Names{toWire: map[string]string{}, toOurs: map[string]string{}}
	wanted := map[string][]string{} // the names that have the same simple form
	for name := range r.names() {
		if admitted(name, longest) {
			n.add(name, name)
		} else {
			simple := simpleName(name)
			wanted[simple] = append(wanted[simple], name)
		}
	}
	for _, simple := range slices.Sorted(maps.Keys(wanted)) {
		names := wanted[simple]
		if len(names) == 1 && admitted(simple, longest) && n.free(simple) {
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

// Wire gives the name on the wire of a name of the request.
func (n Names) Wire(name string) string { return cmp.Or(n.toWire[name], name) }

// Ours gives the name that a name on the wire stands for. One that the request did not have is given back as it is: a model may invent names.
func (n Names) Ours(wire string) string { return cmp.Or(n.toOurs[wire], wire) }

func (n Names) add(ours, wire string) { n.toWire[ours], n.toOurs[wire] = wire, ours }

func (n Names) free(wire string) bool { _, taken := n.toOurs[wire]; return !taken }

// withDigest ends the simple name in a part of the name's digest: a longer part while the result is another name of the request.
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

// names is every tool's name that a request has.
func (r Request) names() map[string]bool {
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
	return all
}

func admitted(name string, longest int) bool {
	return name != "" && len(name) <= longest && strings.IndexFunc(name, isForeign) < 0
}

func isForeign(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
}

// simpleName replaces what is not admitted. The result has only admitted characters of one byte each.
func simpleName(name string) string {
	return strings.Map(func(c rune) rune {
		if isForeign(c) {
			return '_'
		}
		return c
	}, strings.ReplaceAll(name, ".", "__"))
}
