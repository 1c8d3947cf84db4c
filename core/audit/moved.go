package audit

import (
	"cmp"
	"fmt"
	"slices"
)

// gap is the numbers of entries that are not in the log, both inclusive.
type gap struct{ from, to int64 }

// sentence says what is missing from a log whose last entry is last, and whose head names end.
func (g gap) sentence(last, end int64) string {
	switch {
	case g.from == 1 && g.to == end:
		return fmt.Sprintf("All entries of the audit log are missing: its head names entry %d.", end)
	case g.from == last+1 && g.to == end:
		return fmt.Sprintf("The entries after %d of the audit log are missing: its head names entry %d.", last, end)
	case g.from == g.to:
		return fmt.Sprintf("Entry %d of the audit log is missing.", g.from)
	}
	return fmt.Sprintf("The entries %d to %d of the audit log are missing.", g.from, g.to)
}

// maxMoved is how many altered entries and missing numbers are tried against each other.
const maxMoved = 100

// origins finds the altered entries that were only moved: by the number of each, the number that it was written as.
func (c *Check) origins(end int64) map[int64]int64 {
	altered := c.altered[:min(len(c.altered), maxMoved)]
	places := map[int64]*Entry{} // with the entry that is there now; nil: none
	for _, g := range append(slices.Clone(c.gaps), gap{c.last.Seq + 1, end}) {
		for n := g.from; n <= g.to && len(places) < maxMoved; n++ {
			places[n] = nil
		}
	}
	for i, e := range altered {
		places[e.Seq] = &altered[i]
	}
	was := map[int64]int64{}
	for _, e := range altered {
		for n, there := range places {
			if n != e.Seq && c.writtenAs(e, n, there) {
				was[e.Seq] = n
			}
		}
	}
	return was
}

// writtenAs reports whether an entry was written with a number: with its own hash, or with that of the entry which is
// there now, if the contents were moved without the hashes.
func (c *Check) writtenAs(e Entry, n int64, there *Entry) bool {
	e.Seq = n
	if k := c.keys[c.keys.position(e.Key)]; e.Hash == k.hash(e) {
		return true
	}
	if there == nil {
		return false
	}
	e.Prev, e.Key = there.Prev, there.Key
	return there.Hash == c.keys[c.keys.position(e.Key)].hash(e)
}

// missing returns the gaps up to the number last, without the numbers that entries were moved from, in order.
func missing(gaps []gap, was map[int64]int64, last int64) (left []gap) {
	left = slices.Clone(gaps)
	for _, n := range was {
		for i, g := range left {
			if g.from <= n && n <= g.to {
				left = slices.Replace(left, i, i+1, gap{g.from, n - 1}, gap{n + 1, g.to})
				break
			}
		}
	}
	for i := range left {
		left[i].to = min(left[i].to, last)
	}
	left = slices.DeleteFunc(left, func(g gap) bool { return g.to < g.from })
	slices.SortFunc(left, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	return left
}
