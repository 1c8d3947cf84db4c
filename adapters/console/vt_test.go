package console_test

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// vt is a terminal as the person sees it: rows that wrap, cells that a wide character takes two of, and a cursor. When
// it is made narrower or wider it wraps its lines anew, as most terminals do.
type vt struct {
	cols     int
	rows     []row
	x, y     int
	look     string // what is printed now looks like: the numbers of the escape sequence
	sequence string // an escape sequence that has not ended
}

// row is a row of cells; the second cell of a wide character is 0.
type row struct {
	cells   []rune
	looks   []string
	wrapped bool // the line goes on in the next row
}

func newVT(cols int) *vt { return &vt{cols: cols, rows: make([]row, 1)} }

func cellsOf(r rune) int {
	switch k := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case k == width.EastAsianWide || k == width.EastAsianFullwidth:
		return 2
	}
	return 1
}

var escapeSequence = regexp.MustCompile("^\x1b\\[[?]?(([0-9]*)[0-9;]*)([a-zA-Z])$")

// print processes what a program prints.
func (v *vt) print(text string) {
	for _, r := range text {
		switch {
		case r == '\x1b' || v.sequence != "":
			v.sequence += string(r)
			if m := escapeSequence.FindStringSubmatch(v.sequence); m != nil {
				n, _ := strconv.Atoi(m[2])
				v.control(m[3], n)
				if m[3] == "m" {
					v.look = strings.Trim(m[1], "0") // 0 is as usual
				}
				v.sequence = ""
			}
		case r == '\r':
			v.x = 0
		case r == '\n':
			v.down(false)
		case r == '\b':
			v.x = max(0, min(v.x, v.cols-1)-1)
		default:
			v.put(r)
		}
	}
}

func (v *vt) control(command string, n int) {
	at := &v.rows[v.y]
	switch command {
	case "A":
		v.y = max(0, v.y-max(1, n))
	case "G":
		v.x = max(1, n) - 1
	case "K", "J":
		at.cells, at.wrapped = at.cells[:min(v.x, len(at.cells))], false
		at.looks = at.looks[:len(at.cells)]
		if command == "J" {
			v.rows = v.rows[:v.y+1]
		}
	}
}

func (v *vt) down(wrapped bool) {
	v.rows[v.y].wrapped = wrapped
	if v.y++; v.y == len(v.rows) {
		v.rows = append(v.rows, row{})
	}
}

func (v *vt) put(r rune) {
	n := cellsOf(r)
	if v.x+n > v.cols {
		v.down(true)
		v.x = 0
	}
	at := &v.rows[v.y]
	for len(at.cells) < v.x+n {
		at.cells, at.looks = append(at.cells, ' '), append(at.looks, "")
	}
	if n > 0 {
		at.cells[v.x], at.looks[v.x] = r, v.look
	}
	if n == 2 {
		at.cells[v.x+1], at.looks[v.x+1] = 0, v.look
	}
	v.x += n
}

// resize wraps all lines anew; the cursor stays at its character.
func (v *vt) resize(cols int) {
	anew := newVT(cols)
	x, y := 0, 0
	for i, old := range v.rows {
		for j := 0; j <= len(old.cells); j++ {
			if i == v.y && j == min(v.x, len(old.cells)) {
				x, y = anew.x, anew.y
			}
			if j < len(old.cells) && old.cells[j] != 0 {
				anew.look = old.looks[j]
				anew.put(old.cells[j])
			}
		}
		if !old.wrapped && i < len(v.rows)-1 {
			anew.down(false)
			anew.x = 0
		}
	}
	anew.x, anew.y, anew.look = x, y, v.look
	*v = *anew
}

// String is the screen, the cursor as an underscore before its cell.
func (v *vt) String() string {
	var b strings.Builder
	for y, at := range v.rows {
		for x := 0; x <= max(len(at.cells), v.x); x++ {
			if y == v.y && x == v.x {
				b.WriteByte('_')
			}
			if x < len(at.cells) && at.cells[x] != 0 {
				b.WriteRune(at.cells[x])
			}
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// styled is what was printed, with the looks of its parts as «1;36»…«».
func (v *vt) styled() string {
	var b strings.Builder
	for _, at := range v.rows {
		look := ""
		for x, r := range at.cells {
			if r == 0 {
				continue
			}
			if at.looks[x] != look {
				look = at.looks[x]
				b.WriteString("«" + look + "»")
			}
			b.WriteRune(r)
		}
		if look != "" {
			b.WriteString("«»")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
