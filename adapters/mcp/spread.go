package mcp

import (
	"errors"

	"gatehouse/core/tool"
)

const (
	maxChecks = 1000    // how many parts of a schema may check one and the same value
	maxWork   = 300_000 // steps to find that out
)

// checkSpread refuses a schema whose references make checking arguments cost far more than the schema and the arguments are long: a few
// definitions that each refer to the next twice, or a circle that is entered twice for one value, would keep whoever checks arguments busy
// for ever. It follows all references to the depth that arguments may have. A tree, whose parts refer to the whole once each, is allowed.
//
// It errs on the strict side: of alternatives all count, and two patterns count as if they fitted the same names.
func checkSpread(schema any) error {
	root, isObject := schema.(map[string]any)
	if !isObject {
		return nil
	}
	if err := checkNames(root); err != nil {
		return err
	}
	p := schemaParts{root: root, known: map[string]*schemaPart{}, work: maxWork}
	whole := p.at("")
	if p.lost {
		return errors.New("its schema refers to a part that does not exist")
	}
	for depth := range tool.MaxArgumentDepth + 1 {
		switch n := p.checks(whole, depth); {
		case n > maxChecks || p.work < 0:
			return errors.New("its schema is too large with its references followed, or refers to its own parts too often")
		case n == 0:
			return nil // nothing is checked that deep
		}
	}
	return nil
}

// checks says how many parts of the schema check one value that is so many levels below the one that one checks; at most, on the worst way
// there. A result above maxChecks is only known to be above it.
func (p *schemaParts) checks(one *schemaPart, depth int) int {
	if len(one.counts) == 0 {
		one.counts = []int{p.join(one, 0, &one.all)}
	}
	for len(one.counts) <= depth {
		one.counts = append(one.counts, p.worst(one.all, len(one.counts)-1))
	}
	return one.counts[depth]
}

// join gathers what one and the parts for the same value say about the values below it. It gives the number of those parts, after the first
// n; it stops soon after maxChecks, so that a circle ends.
func (p *schemaParts) join(one *schemaPart, n int, all *[]below) int {
	if n++; n > maxChecks || p.work < 0 {
		return maxChecks + 1
	}
	p.work -= 1 + len(one.below)
	*all = append(*all, one.below...)
	for _, same := range one.same {
		if n = p.join(same, n, all); n > maxChecks {
			break
		}
	}
	return n
}

// worst is the highest number of checks that one member or item leads to.
func (p *schemaParts) worst(all []below, depth int) int {
	sums, rest := map[place]int{}, map[kind]int{}
	for _, b := range all {
		p.work -= 1 + len(b.except)
		if p.work < 0 {
			return maxChecks + 1
		}
		n := p.checks(b.part, depth)
		if !b.others {
			sums[b.place] += n
			continue
		}
		rest[b.kind] += n
		for _, name := range b.except {
			sums[place{b.kind, name}] -= n
		}
	}
	most := 0
	for _, n := range rest {
		most = max(most, n)
	}
	for at, n := range sums {
		most = max(most, n+rest[at.kind])
	}
	return min(most, maxChecks+1)
}
