//go:build lighthouse

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// lowest are the scores that each page has at least, of 100.
var lowest = map[string]float64{"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}

// TestLighthouse judges the chat, the approvals and the login by the median of five rounds. GATEHOUSE_TEST_LIGHTHOUSE
// is the path of its command; see .ci/lighthouse. That search engines may read a page is not asked for: these are
// private, and say so.
func TestLighthouse(t *testing.T) {
	open, locked := newLocal(t), newEngine(t, sqliteFile, []string{"ann!=" + annsToken})
	for name, url := range map[string]string{
		"chat": open.at + "/", "approvals": open.at + "/approvals", "login": locked.at + "/login",
	} {
		scores := map[string][]float64{}
		for range 5 {
			for category, score := range judged(t, url) {
				scores[category] = append(scores[category], score)
			}
		}
		for category, least := range lowest {
			all := slices.Sorted(slices.Values(scores[category]))
			median := all[len(all)/2]
			t.Logf("%s: %s is %.0f", name, category, median)
			if median < least {
				t.Errorf("%s: %s is %.0f, of %.0f", name, category, median, all)
			}
		}
	}
}

// judged are the scores of a page in one round.
func judged(t *testing.T, url string) map[string]float64 {
	t.Helper()
	c := exec.CommandContext(t.Context(), "node", os.Getenv("GATEHOUSE_TEST_LIGHTHOUSE"), url, "--quiet",
		"--output=json",
		"--chrome-flags=--headless=new --no-sandbox", "--skip-audits=is-crawlable",
		"--only-categories=performance,accessibility,best-practices,seo")
	c.Env, c.Stderr = append(os.Environ(), "CHROME_PATH="+os.Getenv(chromiumKey)), os.Stderr
	out, err := c.Output()
	noErr(t, err)
	var report struct {
		Categories map[string]struct{ Score float64 }
		Audits     map[string]struct {
			Title string
			Score *float64
		}
	}
	noErr(t, json.Unmarshal(out, &report))
	scores := map[string]float64{}
	for name, c := range report.Categories {
		scores[name] = 100 * c.Score
	}
	for id, a := range report.Audits {
		if a.Score != nil && *a.Score < 0.9 {
			t.Logf("%s: %s (%s) is %.2f", url, a.Title, id, *a.Score)
		}
	}
	return scores
}
