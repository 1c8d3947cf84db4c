package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// update reports whether the series of faults are written into testdata/series: the flag of the fakes' golden files.
func update() bool { return flag.Lookup("update").Value.String() == "true" }

// shownWithin is how soon a metric must show a fault.
const shownWithin = time.Minute

// recording is what a process tells before and during a fault, of the metrics that an alert asks for.
type recording struct {
	t     *testing.T
	at    string // the address of the process
	alert string
	names []string             // of the metrics
	rows  []map[string]float64 // the first one is from before the fault
}

// watch begins a recording for an alert of deploy/alerts.yaml with what a healthy process tells.
func watch(t *testing.T, at, alert string) *recording {
	t.Helper()
	rules, err := os.ReadFile("deploy/alerts.yaml")
	noErr(t, err)
	_, rule, found := strings.Cut(string(rules), "- alert: "+alert+"\n")
	rule, _, ended := strings.Cut(rule, "labels:")
	if !found || !ended {
		t.Fatalf("there is no alert %s", alert)
	}
	r := &recording{t: t, at: at, alert: alert, names: regexp.MustCompile(`gatehouse_[a-z_]+`).FindAllString(rule, -1)}
	r.read()
	return r
}

// read adds what the process tells now.
func (r *recording) read() map[string]float64 {
	r.t.Helper()
	all := scrape(r.t, r.at)
	row := maps.Clone(all)
	maps.DeleteFunc(row, func(key string, _ float64) bool {
		name, _, _ := strings.Cut(key, "{")
		return !slices.Contains(r.names, name)
	})
	if n := len(r.rows); n == 0 || !maps.Equal(row, r.rows[n-1]) {
		r.rows = append(r.rows, row)
	}
	return all
}

// shows reads the metrics until they show the fault, which must be within a minute.
func (r *recording) shows(fault func(now map[string]float64) bool) {
	r.t.Helper()
	began, tick := time.Now(), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for !fault(r.read()) {
		if time.Since(began) > shownWithin {
			r.t.Fatalf("no metric shows it; they were %v", r.rows)
		}
		<-tick.C
	}
	r.t.Logf("shown after %s", time.Since(began).Round(100*time.Millisecond))
}

// keys are the series that were seen.
func (r *recording) keys() []string {
	seen := map[string]bool{}
	for _, row := range r.rows {
		for key := range row {
			seen[key] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Series in the form of promtool test rules: a row each seriesStep, the first one for as long as healthyRows, and the
// last one for lastingRows more.
const (
	seriesStep               = 15 * time.Second
	healthyRows, lastingRows = 8, 60
	keptRows                 = 10
)

// file is the recording for promtool test rules. Afterwards the fault lasts: gauges stay, ages grow, and counters go on
// at the pace that they had. Rows are less than a step apart in truth, so real counters are quicker.
func (r *recording) file(rules string) string {
	rows := r.rows
	if more := len(rows) - keptRows; more > 0 {
		rows = append(rows[:1:1], rows[1+more:]...)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "# What a process told before and during a fault, recorded by %s -update.\n", r.t.Name())
	fmt.Fprintf(&text, "rule_files: [%s]\nevaluation_interval: %s\ntests:\n  - interval: %[2]s\n    input_series:\n",
		rules, seriesStep)
	for _, key := range r.keys() {
		value := func(row map[string]float64) string {
			if v, told := row[key]; told {
				return fmt.Sprintf("%g", v)
			}
			return "_"
		}
		values := []string{fmt.Sprintf("%sx%d", value(rows[0]), healthyRows-1)}
		for _, row := range rows[1:] {
			values = append(values, value(row))
		}
		last := rows[len(rows)-1][key]
		pace := 0.
		switch name, _, _ := strings.Cut(key, "{"); {
		case strings.HasSuffix(name, "_oldest_seconds"):
			pace = seriesStep.Seconds()
		case strings.HasSuffix(name, "_total"):
			pace = (last - rows[0][key]) / float64(len(rows)-1)
		}
		if _, told := rows[len(rows)-1][key]; told {
			values = append(values, fmt.Sprintf("%g+%gx%d", last+pace, pace, lastingRows))
		}
		fmt.Fprintf(&text, "      - series: '%s'\n        values: '%s'\n", key, strings.Join(values, " "))
	}
	fmt.Fprintf(&text, `    promql_expr_test:
      - expr: count(ALERTS{alertstate="firing"})
        eval_time: %s
      - expr: count by (alertname) (ALERTS{alertstate="firing"})
        eval_time: %s
        exp_samples: [{labels: '{alertname="%s"}', value: 1}]
`, (healthyRows-1)*seriesStep, (healthyRows+lastingRows/2)*seriesStep, r.alert)
	return text.String()
}

// seriesKeys are the series that a recorded file has.
func seriesKeys(text string) (all []string) {
	for _, match := range regexp.MustCompile(`series: '(.*)'`).FindAllStringSubmatch(text, -1) {
		all = append(all, match[1])
	}
	return all
}

// fires ends the recording: the alert fires on it, and on the one in testdata, which has the same series.
func (r *recording) fires() {
	t := r.t
	t.Helper()
	_, name, _ := strings.Cut(t.Name(), "/")
	kept := filepath.Join("testdata", "series", name+".yaml")
	if update() {
		noErr(t, os.WriteFile(kept, []byte(r.file("../../deploy/alerts.yaml")), 0o600))
	}
	text, err := os.ReadFile(kept)
	noErr(t, err)
	if was, is := seriesKeys(string(text)), seriesKeys(r.file("")); !slices.Equal(was, is) {
		t.Errorf("%s has the series\n%s\nand now there are\n%s\nrecord it with -update", kept,
			strings.Join(was, "\n"), strings.Join(is, "\n"))
	}
	rules, err := filepath.Abs("deploy/alerts.yaml")
	noErr(t, err)
	fresh := filepath.Join(t.TempDir(), cmp.Or(name, "series")+".yaml")
	noErr(t, os.WriteFile(fresh, []byte(r.file(rules)), 0o600))
	promtool(t, nil, "test", "rules", fresh, filepath.Join("series", name+".yaml"))
}
