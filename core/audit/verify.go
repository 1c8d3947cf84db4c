package audit

import (
	"cmp"
	"crypto/hmac"
	"fmt"
	"slices"

	"gatehouse/core"
)

// Check checks the entries of the audit log one after the other. Keys have an order: once a newer one has signed, an
// older one is not accepted any more, so that a key which was replaced, or which is in the database, can't sign in
// place of the new one.
//
// What was done to one entry does not hide what was done to others: each entry is checked by itself, and then as the
// one after its predecessor.
type Check struct {
	keys    Keys
	last    Entry
	started bool    // the number that comes next is known
	newest  string  // the id of the newest key that has signed; "" = none yet
	genuine int64   // the last entry that is as it was written
	altered []Entry // those that are not
	gaps    []gap
	faults  []Fault
}

// Fault is something that was done to the log. Seq is the first entry that it was done to.
type Fault struct {
	Seq  int64
	Text string // a sentence or more
}

// Check returns a check of the log from its first entry on.
func (all Keys) Check() *Check { return &Check{keys: all, started: true} }

// Newest returns the id of the newest of the keys that has signed an entry; "" if none has.
func (c *Check) Newest() string { return c.newest }

// Entry checks the next entry. A reason that was erased is no fault.
func (c *Check) Entry(e Entry) {
	before := c.last
	follows := !c.started || e.Seq == before.Seq+1
	if !follows {
		c.gaps = append(c.gaps, gap{before.Seq + 1, e.Seq - 1})
	}
	trusted := !c.isAltered(before)
	c.last, c.started = e, true
	position := c.keys.position(e.Key)
	if position < 0 {
		c.fault(e.Seq, "The audit log is broken at entry %d: it is signed with the key %q, which this process does "+
			"not have. Set GATEHOUSE_SECRET_KEY to every key that was ever used, newest first; for entries that were "+
			"made without it, add --database-key.", e.Seq, e.Key)
		return
	}
	k := c.keys[position]
	if !hmac.Equal([]byte(e.Hash), []byte(k.hash(e))) {
		c.altered = append(c.altered, e)
		return
	}
	c.genuine = max(c.genuine, e.Seq)
	older := c.newest != "" && position > c.keys.position(c.newest)
	switch {
	case e.Reason != "" && e.ReasonDigest != k.reason(e):
		c.fault(e.Seq, "The audit log is broken at entry %d: its reason is not the one that was given.", e.Seq)
	case follows && trusted && e.Prev != before.Hash:
		c.fault(e.Seq, "The audit log is broken at entry %d: it was not written after the entry before it. One of "+
			"the two was replaced.", e.Seq)
	case older:
		c.fault(e.Seq, "The audit log is broken at entry %d: it is signed with the key %q, which is older than the "+
			"key %q of entries before it. Either it was forged with the older key, or a process ran without the "+
			"newer one; or the keys of GATEHOUSE_SECRET_KEY are not in the order newest first.", e.Seq, e.Key, c.newest)
	}
	if !older {
		c.newest = e.Key
	}
}

// isAltered reports whether an entry was the last one that is not as it was written.
func (c *Check) isAltered(e Entry) bool {
	n := len(c.altered)
	return n > 0 && c.altered[n-1].Seq == e.Seq
}

func (c *Check) fault(seq int64, format string, args ...any) {
	c.faults = append(c.faults, Fault{seq, fmt.Sprintf(format, args...)})
}

// Faults returns what was done to the entries so far, in their order. end is the number of the entry that the log must
// reach: that of its head; 0 = it is not known.
func (c *Check) Faults(end int64) []Fault {
	was := c.origins(end)
	gaps, all := slices.Clone(c.gaps), &Check{}
	for _, e := range c.altered {
		if from, moved := was[e.Seq]; moved && was[from] != e.Seq {
			gaps = append(gaps, gap{e.Seq, e.Seq}) // another entry is in its place
		}
	}
	if c.last.Seq < end {
		gaps = append(gaps, gap{c.last.Seq + 1, end})
	}
	for _, g := range missing(gaps, was, max(c.genuine, end)) {
		all.fault(g.from, "%s", g.sentence(c.last.Seq, end))
	}
	for _, e := range c.altered {
		from, moved := was[e.Seq]
		switch {
		case !moved:
			all.fault(e.Seq, "The audit log is broken at entry %d: it was changed since it was written.", e.Seq)
		case was[from] != e.Seq:
			all.fault(from, "Entry %d of the audit log was moved: it has the number %d now.", from, e.Seq)
		case from > e.Seq:
			all.fault(e.Seq, "Entries %d and %d of the audit log were swapped.", e.Seq, from)
		}
	}
	faults := append(all.faults, c.faults...)
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.Seq, b.Seq) })
	return faults
}

// Verify checks consecutive entries that follow an entry whose hash is prev ("" at the start of the log), as a Check
// does. The error, of category invalid, tells of the first entry that has a fault.
func (all Keys) Verify(prev string, entries []Entry) error {
	c := Check{keys: all, started: prev == "", last: Entry{Hash: prev}}
	for _, e := range entries {
		c.Entry(e)
	}
	if faults := c.Faults(0); len(faults) > 0 {
		return core.Errorf(core.Invalid, "%s", faults[0].Text)
	}
	return nil
}
