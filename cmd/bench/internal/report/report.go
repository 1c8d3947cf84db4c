// Package report makes tables of what several runs measured: medians, how far the runs are apart, and ratios.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Column is a figure of a run.
type Column struct {
	Key    string // in JSON
	Title  string
	Format string // such as %.1f
}

// Row is what the runs of one thing measured: for each column the values of all runs.
type Row struct {
	Name   string
	Values map[string][]float64
}

// Add adds the values of a run.
func (r *Row) Add(values map[string]float64) {
	if r.Values == nil {
		r.Values = map[string][]float64{}
	}
	for key, value := range values {
		r.Values[key] = append(r.Values[key], value)
	}
}

// Median is the middle of the values; 0 of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[half-1] + sorted[half]) / 2
	}
	return sorted[half]
}

// Spread is how far the values are from their median: half of the way from the smallest to the largest, as a share of
// the median. It is 0 for one value, and if the median is 0.
func Spread(values []float64) float64 {
	median := Median(values)
	if median == 0 {
		return 0
	}
	return (slices.Max(values) - slices.Min(values)) / 2 / median
}

// Percentile is the value below which a share of the sorted values is; the zero value of none.
func Percentile[T any](sorted []T, share float64) (at T) {
	if len(sorted) == 0 {
		return at
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

// Table writes a table with a line for each figure and a column for each row: medians, each with its spread if there
// are several runs, and the ratios of the last row to the others. A figure that no row has is left out.
func Table(out io.Writer, columns []Column, rows []Row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	last, others := rows[len(rows)-1], rows[:len(rows)-1]
	head := []string{""}
	for _, r := range rows {
		head = append(head, r.Name)
	}
	for _, r := range others {
		head = append(head, last.Name+"/"+r.Name)
	}
	line(w, head)
	for _, c := range columns {
		if !slices.ContainsFunc(rows, func(r Row) bool { return len(r.Values[c.Key]) > 0 }) {
			continue
		}
		cells := []string{c.Title}
		for _, r := range rows {
			cells = append(cells, cell(c, r.Values[c.Key]))
		}
		for _, r := range others {
			cells = append(cells, ratio(Median(last.Values[c.Key]), Median(r.Values[c.Key])))
		}
		line(w, cells)
	}
	return w.Flush()
}

func line(w io.Writer, cells []string) { fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") }

func cell(c Column, values []float64) string {
	if len(values) == 0 {
		return "-"
	}
	text := fmt.Sprintf(c.Format, Median(values))
	if len(values) > 1 && Median(values) != 0 {
		text += fmt.Sprintf(" ±%.0f%%", 100*Spread(values))
	}
	return text
}

func ratio(a, b float64) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// JSON writes the same for machines: what was measured, for each row the medians, the spreads and the values, and the
// ratios of the last row to the others.
func JSON(out io.Writer, what map[string]any, columns []Column, rows []Row) error {
	type figure struct {
		Median float64   `json:"median"`
		Spread float64   `json:"spread"`
		Values []float64 `json:"values"`
	}
	of, ratios := map[string]map[string]figure{}, map[string]map[string]float64{}
	last := rows[len(rows)-1]
	for _, r := range rows {
		figures, compared := map[string]figure{}, map[string]float64{}
		for _, c := range columns {
			values := r.Values[c.Key]
			if len(values) == 0 {
				continue
			}
			figures[c.Key] = figure{Median: Median(values), Spread: Spread(values), Values: values}
			if m := Median(values); m != 0 {
				compared[c.Key] = Median(last.Values[c.Key]) / m
			}
		}
		of[r.Name] = figures
		if r.Name != last.Name {
			ratios[last.Name+"/"+r.Name] = compared
		}
	}
	all := maps.Clone(what)
	all["rows"], all["ratios"] = of, ratios
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(all)
}
