package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
)

// The clock differs from Slack's by more than the age that a signed request may have.
func TestLaw9_AClockThatIsOffIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ahead       time.Duration
		says        string
		ready, warn bool
	}{
		"ahead":    {7 * time.Minute, "ahead of that of Slack", false, true},
		"behind":   {-7 * time.Minute, "behind that of Slack", false, true},
		"a minute": {time.Minute, "ahead of that of Slack", true, true}, "right": {0, "", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fake := slacktest.Start(t, slacktest.Options{Now: func() time.Time { return time.Now().Add(-c.ahead) }})
			p := newServeProcess(t, sqliteFile, "SLACK_API_URL="+fake.APIURL(), "SLACK_BOT_TOKEN="+fake.BotToken(),
				"SLACK_SIGNING_SECRET="+fake.SigningSecret())
			p.open()
			get := func(path string) (status int, body string) {
				answer, err := http.Get(p.at + path)
				if err != nil {
					return 0, ""
				}
				defer answer.Body.Close()
				text, _ := io.ReadAll(answer.Body)
				return answer.StatusCode, string(text)
			}
			p.until("that Slack has answered", p.app, func() bool {
				_, body := get("/metrics")
				return strings.Contains(body, `gatehouse_clock_skew_seconds{source="slack"} `)
			})
			_, metrics := get("/metrics")
			if zero := strings.Contains(metrics,
				`gatehouse_clock_skew_seconds{source="slack"} 0`+"\n"); zero != !c.warn {
				t.Errorf("the metrics are %s", metrics)
			}
			status, body := get("/readyz")
			if ready := status == http.StatusOK; ready != c.ready ||
				strings.Contains(body, c.says+`. Set it right`) != (c.says != "" && !c.ready) {
				t.Errorf("/readyz answers %d %s", status, body)
			}
			if warned := strings.Contains(p.app.out.String(), "This machine's clock is "); warned != c.warn {
				t.Errorf("the log says %s", p.app.out)
			}
			doctor := p.start(nil, "doctor", "--quick")
			doctor.quit(t)
			if out := doctor.out.String(); !strings.Contains(out, "slack clock") ||
				strings.Contains(out, "Run NTP") != c.warn {
				t.Errorf("the doctor says %s", out)
			}
		})
	}
}
