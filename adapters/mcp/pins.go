package mcp

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// judge decides what a tool may do. Only the admin's word makes it one that reads, and only for a definition that the admin knows.
func (s *server) judge(ctx context.Context, d *definition, found *listing) {
	d.standing = Writes
	if d.destructive {
		d.standing = Dangerous
	}
	declared, confirmed := s.declared(d)
	switch {
	case confirmed:
		if err := s.pin(ctx, d); err != nil {
			s.log.Warn("the definition of a tool could not be stored", "tool", d.name, "err", err)
		}
		d.standing = Reads
	case !declared:
	case d.destructive:
		found.warn("%s is dangerous: \"readOnly\" names it, and the server says that it destroys; if it only reads, add %q to \"readOnly\"", d.name, d.confirmation())
	default:
		s.compare(ctx, d, found)
	}
}

// noPath lets a "*" stand for any characters: path.Match keeps it from those of a path.
var noPath = strings.NewReplacer("/", "\x00")

// declared reports whether the admin said that the tool only reads, and whether of this very definition.
func (s *server) declared(d *definition) (declared, confirmed bool) {
	for _, entry := range s.ReadOnly {
		name, digest, exact := strings.Cut(entry, "@")
		switch {
		case exact && name == d.remote:
			declared = true
			confirmed = confirmed || len(digest) >= minDigest && strings.HasPrefix(d.digest, digest)
		case !exact:
			matches, err := path.Match(noPath.Replace(entry), noPath.Replace(d.remote))
			declared = declared || err == nil && matches
		}
	}
	return declared, confirmed
}

// minDigest is how much of a digest confirms a definition.
const minDigest = 12

// confirmation is the entry of readOnly that confirms the definition.
func (d *definition) confirmation() string { return d.remote + "@" + d.digest[:minDigest] }

// compare compares the definition with the one that was seen first. It fails closed.
func (s *server) compare(ctx context.Context, d *definition, found *listing) {
	first := ""
	err := errNoPins
	if s.pins.Get != nil {
		first, err = s.pins.Get(ctx, s.pinName(d))
	}
	if err == nil && first == "" {
		first, err = d.digest, s.pin(ctx, d)
	}
	switch {
	case err != nil:
		found.warn("%s needs an approval for each call: what it was like when it was first seen is not known, because the store could not be read or written", d.name)
		s.log.Warn("the definition of a tool could not be compared", "tool", d.name, "err", err)
	case first == d.digest:
		d.standing = Reads
	default:
		d.standing = Changed
		found.changes = append(found.changes, fmt.Sprintf("%s has changed since it was first seen and needs an approval for each call; if it still only reads, add %q to \"readOnly\"", d.name, d.confirmation()))
	}
}

func (s *server) pin(ctx context.Context, d *definition) error {
	if s.pins.Put == nil {
		return errNoPins
	}
	return s.pins.Put(ctx, s.pinName(d), d.digest)
}

// pinName is where the digest of the definition is stored that was seen first, or confirmed last.
func (s *server) pinName(d *definition) string {
	return "mcp.pin/" + strings.Replace(d.name, ".", "/", 1)
}
