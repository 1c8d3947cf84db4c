package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Curves are figures of several things at several rates.
type Curves struct {
	names  []string
	points map[string][]point
}

type point struct{ rate, low, high float64 }

// Add adds the medians of two columns of each row, measured at a rate. Rates increase.
func (c *Curves) Add(rate float64, rows []Row, low, high string) {
	if c.points == nil {
		c.points = map[string][]point{}
	}
	for _, r := range rows {
		if _, known := c.points[r.Name]; !known {
			c.names = append(c.names, r.Name)
		}
		c.points[r.Name] = append(c.points[r.Name],
			point{rate: rate, low: Median(r.Values[low]), high: Median(r.Values[high])})
	}
}

// The plot's size, and the margin for its axes.
const (
	width, height = 720.0, 420.0
	margin        = 60.0
)

// colours are those of the things, in order.
var colours = []string{"#555555", "#c2410c", "#1d4ed8", "#15803d"}

// SVG draws the curves, with both axes logarithmic: for each thing a line of the first column, and a dashed one of the
// second.
func (c *Curves) SVG(x, y string) []byte {
	across, up := c.axes()
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="12">`+"\n",
		width, height)
	fmt.Fprintf(&b, `<rect width="%g" height="%g" fill="white"/>`+"\n", width, height)
	for _, v := range up.ticks() {
		at := up.place(v)
		fmt.Fprintf(&b, `<path d="M%g %.1fH%g" stroke="#ddd"/><text x="%g" y="%.1f" text-anchor="end">%g</text>`+"\n",
			margin, at, width-margin/2, margin-6, at+4, v)
	}
	for _, v := range c.rates() {
		at := across.place(v)
		fmt.Fprintf(&b,
			`<path d="M%.1f %gV%g" stroke="#ddd"/><text x="%.1f" y="%g" text-anchor="middle">%g</text>`+"\n", at,
			margin/2, height-margin, at, height-margin+16, v)
	}
	fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">%s</text><text x="%g" y="%g">%s</text>`+"\n",
		width/2, height-margin/3, html.EscapeString(x), margin, margin/3, html.EscapeString(y))
	for i, name := range c.names {
		colour := colours[i%len(colours)]
		line := func(dash string, of func(point) float64) {
			var path []string
			for _, p := range c.points[name] {
				path = append(path, fmt.Sprintf("%.1f,%.1f", across.place(p.rate), up.place(of(p))))
			}
			fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n",
				strings.Join(path, " "), colour, dash)
		}
		line("", func(p point) float64 { return p.low })
		line(` stroke-dasharray="6 4"`, func(p point) float64 { return p.high })
		fmt.Fprintf(&b, `<text x="%g" y="%g" fill="%s">%s</text>`+"\n", margin+10, margin/2+16+16*float64(i), colour,
			html.EscapeString(name))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// rates are all rates, in order.
func (c *Curves) rates() (all []float64) {
	for _, points := range c.points {
		for _, p := range points {
			all = append(all, p.rate)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// axis maps values to places, by their logarithms.
type axis struct{ from, to, begin, end float64 }

func (a axis) place(v float64) float64 {
	share := (math.Log(max(v, a.from)) - math.Log(a.from)) / (math.Log(a.to) - math.Log(a.from))
	return a.begin + share*(a.end-a.begin)
}

// ticks are 1, 2, 5, 10, 20, 50 and so on, within the axis.
func (a axis) ticks() (all []float64) {
	for decade := math.Pow(10, math.Floor(math.Log10(a.from))); decade <= a.to; decade *= 10 {
		for _, step := range []float64{1, 2, 5} {
			if v := decade * step; v >= a.from && v <= a.to {
				all = append(all, v)
			}
		}
	}
	return all
}

// smallest is the least value that is drawn.
const smallest = 0.01

// axes returns axes that hold all points.
func (c *Curves) axes() (across, up axis) {
	across, up = axis{from: math.Inf(1), begin: margin, end: width - margin/2},
		axis{from: math.Inf(1), begin: height - margin, end: margin / 2}
	for _, points := range c.points {
		for _, p := range points {
			across.from, across.to = min(across.from, p.rate), max(across.to, p.rate)
			up.from, up.to = min(up.from, max(smallest, p.low)), max(up.to, p.high)
		}
	}
	for _, a := range []*axis{&across, &up} {
		a.from /= 1.2
		a.to = max(a.to, a.from) * 1.2
	}
	return across, up
}
