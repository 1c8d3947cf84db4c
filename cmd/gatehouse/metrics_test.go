package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scrape reads the metrics of a process: the values by name and labels, as they are printed.
func scrape(t *testing.T, at string) map[string]float64 {
	t.Helper()
	answer, err := http.Get(at + "/metrics")
	noErr(t, err)
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	noErr(t, err)
	all := map[string]float64{}
	for name, family := range families {
		if family.GetHelp() == "" {
			t.Errorf("%s has no help", name)
		}
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			key := name
			if len(labels) > 0 {
				key += "{" + strings.Join(labels, ",") + "}"
			}
			all[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

// TestMetricsTellWhatHappens: a message, an approval and a refused request are counted, by names that alerts use, and
// nobody is named.
func TestMetricsTellWhatHappens(t *testing.T) {
	p := newSlackProcess(t, "GATEHOUSE_AGENT=demo")
	p.open()
	p.ann.Says("call milk.buy {}")
	p.reads(p.dm, "", "There is no tool")
	p.ann.Says("note add milk")
	card := p.card(p.dm, "", "Add “milk” to the note book.")
	open := scrape(t, p.at)
	if open["gatehouse_approvals_open"] != 1 || open["gatehouse_approvals_oldest_seconds"] <= 0 {
		t.Errorf("approvals open: %v, since %v s", open["gatehouse_approvals_open"],
			open["gatehouse_approvals_oldest_seconds"])
	}
	noErr(t, p.bob.Clicks(p.dm, card.TS, "approve").Wait(t.Context()))
	p.reads(p.dm, "", "Done")
	forged, err := http.Post(p.at+"/slack/events", "application/json", strings.NewReader("{}"))
	noErr(t, err)
	forged.Body.Close()
	waitUntil(t, func() bool { return scrape(t, p.at)["gatehouse_posts_unsent"] == 0 }, "all posts are sent")
	now := scrape(t, p.at)
	for name, want := range map[string]float64{
		`gatehouse_events_total{kind="message",platform="slack",result="accepted"}`: 2,
		`gatehouse_events_total{kind="click",platform="slack",result="accepted"}`:   1,
		`gatehouse_events_total{kind="request",platform="slack",result="unsigned"}`: 1,
		`gatehouse_ack_seconds{platform="slack"}`:                                   3,
		`gatehouse_turns_total{bucket="",outcome="suspended"}`:                      1,
		`gatehouse_turns_total{bucket="",outcome="replied"}`:                        2,
		`gatehouse_tool_calls_total{result="ok",tool="note.add"}`:                   1,
		`gatehouse_tool_calls_total{result="tool_unknown",tool="unknown"}`:          1,
		`gatehouse_approvals_total{result="approved"}`:                              1,
		`gatehouse_approval_open_seconds`:                                           1,
		`gatehouse_approvals_open`:                                                  0,
		`gatehouse_database_up`:                                                     1,
		`gatehouse_platform_up{direction="outbound",platform="slack"}`:              1,
		`gatehouse_deadletters`:                                                     0,
		`gatehouse_posts_unsent`:                                                    0,
	} {
		if got, told := now[name]; !told || got != want {
			t.Errorf("%s is %v (%t), want %v", name, got, told, want)
		}
	}
	names := map[string]bool{}
	for key := range now {
		name, labels, _ := strings.Cut(key, "{")
		names[name] = names[name] || strings.HasPrefix(name, "gatehouse_")
		if regexp.MustCompile(`(?i)\bU[0-9][A-Z]+\b|\b(ann|bob|eve)\b|milk`).MatchString(labels) {
			t.Errorf("%s names somebody", key)
		}
	}
	ours := 0
	for name := range names {
		if names[name] {
			ours++
		}
	}
	if ours < 30 {
		t.Errorf("there are %d metrics: %v", ours, names)
	}
	if now[`gatehouse_platform_calls_total{platform="slack",result="answered"}`] < 2 {
		t.Errorf("calls of Slack are not counted")
	}
	if now["gatehouse_database_bytes"] == 0 || now["gatehouse_audit_head"] < 3 ||
		now[`gatehouse_store_transactions_total{result="committed"}`] == 0 {
		t.Errorf("the database has no figures: %v", now)
	}
}

// promtoolKey names the path of Prometheus' tool; see .ci/promtool.
const promtoolKey = "GATEHOUSE_TEST_PROMTOOL"

// promtool runs Prometheus' tool in testdata.
func promtool(t *testing.T, input io.Reader, args ...string) {
	t.Helper()
	program := os.Getenv(promtoolKey)
	if program == "" {
		t.Skipf("%s is not set", promtoolKey)
	}
	c := exec.CommandContext(t.Context(), program, args...)
	c.Dir, c.Stdin = "testdata", input
	if told, err := c.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, told)
	}
}

// TestMetricsHaveTheNamesThatPrometheusAsksFor checks names, units and helps.
func TestMetricsHaveTheNamesThatPrometheusAsksFor(t *testing.T) {
	p := newSlackProcess(t, "GATEHOUSE_AGENT=demo")
	p.open()
	p.ann.Says("hello")
	p.reads(p.dm, "", "Hello!")
	answer, err := http.Get(p.at + "/metrics")
	noErr(t, err)
	defer answer.Body.Close()
	promtool(t, answer.Body, "check", "metrics")
}

// TestAlertsFire: the rules are well formed, each fires on what it is for, says what to do, and names metrics that
// there are.
func TestAlertsFire(t *testing.T) {
	promtool(t, nil, "check", "rules", "../deploy/alerts.yaml")
	promtool(t, nil, "test", "rules", "alerts_test.yaml")
	text, err := os.ReadFile("deploy/alerts.yaml")
	noErr(t, err)
	rules, todos := strings.Count(string(text), "- alert:"), strings.Count(string(text), "todo:")
	if rules < 8 || todos != rules {
		t.Errorf("%d alerts, %d of them say what to do", rules, todos)
	}
	page, err := os.ReadFile("README.md")
	noErr(t, err)
	for _, name := range regexp.MustCompile(`gatehouse_[a-z_]+`).FindAllString(string(text), -1) {
		if name = strings.TrimSuffix(name, "_count"); !strings.Contains(string(page), name) {
			t.Errorf("%s is in an alert, and not on the page of metrics", name)
		}
	}
}
