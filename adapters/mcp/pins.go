package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Pin is how a tool's definition compares with the one that was seen first. Only of one that is FirstSeen or Confirmed
// do readOnly and the server's annotations count.
type Pin string

// The pins.
const (
	FirstSeen Pin = "first seen" // or has not changed since
	Confirmed Pin = "confirmed"  // by an entry NAME@DIGEST
	Differs   Pin = "changed"
	Unknown   Pin = "unknown" // the store can't say
)

// judge decides what a tool may do. Only the admin's word makes it one that reads, and only for a definition that the
// admin knows.
func (s *server) judge(ctx context.Context, d *definition, found *listing) {
	d.standing = Writes
	if d.destructive {
		d.standing = Dangerous
	}
	declared, confirmed := s.declared(s.ReadOnly, d)
	_, allowed := s.declared(s.Filter.Allow, d)
	var err error
	if d.pin, err = s.compare(ctx, d, confirmed || allowed); err != nil && declared {
		s.log.Warn("the definition of a tool could not be compared or stored", "tool", d.name, "err", err)
	}
	switch {
	case confirmed:
		d.standing = Reads
	case !declared:
	case d.destructive:
		found.warn("%s is dangerous: \"readOnly\" names it, and the server says that it destroys; if it only reads, "+
			"add %q to \"readOnly\"", d.name, d.confirmation())
	case d.pin == Unknown:
		found.warn("%s needs an approval for each call: what it was like when it was first seen is not known, "+
			"because the store could not be read or written", d.name)
	case d.pin == Differs:
		d.standing = Changed
		found.changes = append(found.changes,
			fmt.Sprintf("%s has changed since it was first seen and needs an approval for each call; if it still "+
				"only reads, add %q to \"readOnly\"", d.name, d.confirmation()))
	default:
		d.standing = Reads
	}
	if d.destroyed && d.standing != Reads {
		d.standing = Dangerous
		found.warn("%s has changed since it was first seen, when the server said that it destroys, so it counts as "+
			"destructive; if that is over, add %q to \"allow\" of \"tools\"", d.name, d.confirmation())
	}
}

// declared reports whether a list of the admin names the tool, and whether it confirms this very definition.
func (s *server) declared(list []string, d *definition) (declared, confirmed bool) {
	declared = slices.ContainsFunc(list, func(entry string) bool { return names(entry, d.remote) })
	confirmed = slices.ContainsFunc(list, func(entry string) bool {
		name, digest, _ := strings.Cut(entry, "@")
		return name == d.remote && len(digest) >= minDigest && strings.HasPrefix(d.digest, digest)
	})
	return declared, confirmed
}

// minDigest is how much of a digest confirms a definition.
const minDigest = 12

// confirmation is the entry of readOnly that confirms the definition.
func (d *definition) confirmation() string { return d.remote + "@" + d.digest[:minDigest] }

// compare compares the definition with the one that was seen first, or stores it: as the first, or because it is
// confirmed. It fails closed.
func (s *server) compare(ctx context.Context, d *definition, confirmed bool) (Pin, error) {
	if s.pins == nil {
		return Unknown, errNoPins
	}
	pin, stored := Confirmed, ""
	if !confirmed {
		var err error
		if stored, err = s.pins.Get(ctx, s.pinName(d)); err != nil {
			return Unknown, err
		}
		pin = FirstSeen
	}
	first, destroyed := strings.CutSuffix(stored, destroys)
	if first != "" && first != d.digest {
		d.destroyed = destroyed
		return Differs, nil
	}
	now := d.digest
	if d.destructive {
		now += destroys
	}
	if stored != now {
		if err := s.pins.Put(ctx, s.pinName(d), now); err != nil {
			return Unknown, err
		}
	}
	return pin, nil
}

// destroys ends the stored digest of a definition that says that the tool destroys: one that comes after it,
// unconfirmed, lowers no risk.
const destroys = " destroys"

// pinName is where the digest of the definition is stored that was seen first, or confirmed last.
func (s *server) pinName(d *definition) string {
	return "mcp.pin/" + strings.Replace(d.name, ".", "/", 1)
}
