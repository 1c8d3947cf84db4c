package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"gatehouse/cmd/bench/internal/report"
)

var columns = []report.Column{
	{Key: "speed", Title: "speed", Format: "%.1f"}, {Key: "none", Title: "none", Format: "%.1f"},
}

func rows() []report.Row {
	return []report.Row{
		{Name: "floor", Values: map[string][]float64{"speed": {12, 8, 10}}},
		{Name: "gatehouse", Values: map[string][]float64{"speed": {5}}},
	}
}

func TestMedianAndSpread(t *testing.T) {
	for _, c := range []struct {
		values         []float64
		median, spread float64
	}{
		{nil, 0, 0}, {[]float64{4}, 4, 0}, {[]float64{12, 8, 10}, 10, 0.2}, {[]float64{1, 3}, 2, 0.5},
		{[]float64{0, 0}, 0, 0},
	} {
		if m, s := report.Median(c.values), report.Spread(c.values); m != c.median || math.Abs(s-c.spread) > 1e-9 {
			t.Errorf("%v: %v ± %v", c.values, m, s)
		}
	}
}

func TestTableHasMediansSpreadsAndRatios(t *testing.T) {
	var out bytes.Buffer
	if err := report.Table(&out, columns, rows()); err != nil {
		t.Fatal(err)
	}
	const want = "" +
		"           floor  gatehouse  gatehouse/floor\n" +
		"  speed  10.0 ±20%        5.0             0.50\n"
	if got := out.String(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("%s", got)
	}
}

func TestJSONHasTheSame(t *testing.T) {
	var out bytes.Buffer
	if err := report.JSON(&out, map[string]any{"rate": 118}, columns, rows()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Rate float64
		Rows map[string]map[string]struct {
			Median float64
			Values []float64
		}
		Ratios map[string]map[string]float64
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if floor := got.Rows["floor"]["speed"]; got.Rate != 118 || floor.Median != 10 || len(floor.Values) != 3 ||
		got.Ratios["gatehouse/floor"]["speed"] != 0.5 {
		t.Errorf("%+v", got)
	}
}

func TestPlotIsXMLWithALineForEachFigure(t *testing.T) {
	var c report.Curves
	for _, rate := range []float64{50, 100} {
		c.Add(rate, []report.Row{{Name: "a<b", Values: map[string][]float64{"low": {rate / 10}, "high": {rate}}}},
			"low", "high")
	}
	lines, words := 0, ""
	d := xml.NewDecoder(bytes.NewReader(c.SVG("x", "y")))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch one := token.(type) {
		case xml.StartElement:
			if one.Name.Local == "polyline" {
				lines++
			}
		case xml.CharData:
			words += string(one) + " "
		}
	}
	if lines != 2 || !strings.Contains(words, "a<b") || !strings.Contains(words, " 100 ") {
		t.Errorf("%d lines, %q", lines, words)
	}
}
