package chattext

import "strings"

// How good it is to cut between two lines, the best last.
const (
	torn      = iota // a heading from its text, a fence from its block, a table's head from its rows
	midBlock         // in code, in a list item
	midLines         // between the lines of a paragraph, the rows of a table, at a blank line in code
	nestedEnd        // between nested list items
	blockEnd         // between list items, before and after code
	paragraph        // at a blank line
	ranks
)

// rank returns how good it is to cut before a line.
func rank(d draft, line string, kind FenceLine) int {
	blank := strings.TrimSpace(line) == ""
	lastBlank := strings.TrimSpace(d.last) == ""
	_, lastFence := fenceOf(leadOf(strings.TrimRight(d.last, "\r\n")))
	l := leadOf(strings.TrimRight(line, "\r\n"))
	switch {
	case kind == InsideFence && (lastFence || d.last == ""), kind == ClosesFence:
		return torn
	case kind == InsideFence && (blank || lastBlank):
		return midLines
	case kind == InsideFence:
		return midBlock
	case blank:
		return torn // equivalent to a cut before the next line, which is ranked better
	case strings.HasPrefix(strings.TrimSpace(lastLine(d.text)), "#"):
		return torn
	case isDashes(line) || isDashes(d.last) && d.head != "":
		return torn
	case d.head != "" && strings.Contains(line, "|"):
		return midLines
	case len(l.items) > 0 && l.first == 0 && l.quotes == 0:
		return blockEnd
	case len(l.items) > 0:
		return nestedEnd
	case l.indent > 0 && len(d.state.items) > 0:
		return midBlock
	case lastBlank:
		return paragraph
	case kind == OpensFence, strings.HasPrefix(l.text, "#"), lastFence && !d.state.open:
		return blockEnd
	}
	return midLines
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// cuts holds the last place of each rank.
type cuts [ranks]draft

// fill reports whether a cut at some place, not torn, leaves at least n units in the part.
func (c *cuts) fill(n int) bool {
	for rank := midBlock; rank < ranks; rank++ {
		if c[rank].used >= n {
			return true
		}
	}
	return false
}

// choose returns the best place among those that fill a fair share of the part, else among all.
func (c *cuts) choose(limit int) (draft, bool) {
	for rank := ranks - 1; rank > torn; rank-- {
		share := limit / 2
		if rank >= blockEnd {
			share = limit / 3
		}
		if c[rank].used >= share {
			return c[rank], true
		}
	}
	for rank := ranks - 1; rank >= torn; rank-- {
		if c[rank].at > 0 {
			return c[rank], true
		}
	}
	return draft{}, false
}
