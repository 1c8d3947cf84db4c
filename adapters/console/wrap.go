package console

import (
	"slices"

	"github.com/rivo/uniseg"
)

// piece is a part of a line that looks alike. Its text is safe to print, and has no line end.
type piece struct {
	text  string
	look  string // as in an escape sequence, "1;36"; "": as usual
	whole bool   // an address: a terminal opens one that its own edge breaks, and none that has a line end in it
}

// line is what stands between two line ends.
type line []piece

// width is how many columns a line takes.
func (l line) width() (columns int) {
	for _, p := range l {
		columns += uniseg.StringWidth(p.text)
	}
	return columns
}

// narrowest is how many columns a text gets at least, on a terminal of any width.
const narrowest = 16

// wrap breaks a line where Unicode's rules let it end (between words, after a hyphen, in Chinese), and else at the last
// character that fits, so that no part has more columns than width. What begins a part is not a blank.
func (l line) wrap(width int) []line { return l.broken(l.cells(), max(width, narrowest)) }

// cut breaks a line of code at the last character that fits, and marks where it goes on.
func (l line) cut(width int) []line {
	cells := l.cells()
	for i := range cells {
		cells[i].ends = false
	}
	if l.width() <= width {
		return []line{l}
	}
	all := l.broken(cells, max(width, narrowest)-1)
	for i := range all[:len(all)-1] {
		all[i] = append(all[i], piece{text: "↩", look: faint})
	}
	return all
}

func (l line) broken(cells []cell, width int) (all []line) {
	for len(cells) > 0 {
		end, next := firstLine(cells, width)
		all = append(all, l.of(cells[:end]))
		cells = cells[next:]
	}
	if all == nil {
		return []line{nil}
	}
	return all
}

// cell is a character as a person counts them.
type cell struct {
	text  string
	width int
	ends  bool // a line may end after it
	whole bool // see piece
	of    int  // the number of its piece
}

func (l line) cells() (all []cell) {
	of, left, state := 0, 0, -1 // left is what the piece still has, in bytes
	if len(l) > 0 {
		left = len(l[0].text)
	}
	for rest := l.text(); rest != ""; {
		var c cell
		var bounds int
		c.text, rest, bounds, state = uniseg.StepString(rest, state)
		for left <= 0 {
			of++
			left += len(l[of].text)
		}
		left -= len(c.text)
		c.of, c.width, c.whole = of, bounds>>uniseg.ShiftWidth, l[of].whole
		c.ends = bounds&uniseg.MaskLine == uniseg.LineCanBreak && (!c.whole || left <= 0)
		all = append(all, c)
	}
	return all
}

// firstLine is where the first part of some cells ends, and where the next one begins: the blanks between them are left
// out.
func firstLine(cells []cell, width int) (end, next int) {
	taken, words := 0, false
	for i, c := range cells {
		blank := c.text == " "
		if taken += c.width; taken > width && !blank && (next > 0 || !c.whole) {
			if next == 0 {
				return max(i, 1), max(i, 1)
			}
			for end = next; end > 0 && cells[end-1].text == " "; end-- {
			}
			return end, next
		}
		if words = words || !blank; words && c.ends {
			next = i + 1
		}
	}
	return len(cells), len(cells)
}

// of is a line of some of its cells.
func (l line) of(cells []cell) (part line) {
	for i, c := range cells {
		if i > 0 && c.of == cells[i-1].of {
			part[len(part)-1].text += c.text
			continue
		}
		p := l[c.of]
		p.text = c.text
		part = append(part, p)
	}
	return part
}

// framed are lines behind the beginning of the first one and that of the others, each broken to be within the width; 0
// breaks none.
func framed(first, others line, lines []line, width int) (all []line) {
	for _, l := range lines {
		parts := []line{l}
		if width > 0 {
			parts = l.wrap(width - others.width())
		}
		for _, part := range parts {
			all = append(all, slices.Concat(first, part))
			first = others
		}
	}
	return all
}
