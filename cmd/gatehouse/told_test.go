package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
)

// call sends a request to a serving process; each header is "Name: value".
func (l *serveProcess) call(method, path, body string, headers ...string) (status int, text string) {
	r, err := http.NewRequestWithContext(context.Background(), method, l.at+path, strings.NewReader(body))
	noErr(l.t, err)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	all, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(all)
}

// readyWhen waits until /readyz answers with a status and says something.
func (l *serveProcess) readyWhen(status int, says string) {
	l.t.Helper()
	var got int
	var text string
	l.t.Cleanup(func() {
		if l.t.Failed() {
			l.t.Logf("/readyz answered last: %d %s", got, text)
		}
	})
	l.until(fmt.Sprint("/readyz ", status, " ", says), l.app, func() bool {
		got, text = l.call(http.MethodGet, "/readyz", "")
		return got == status && strings.Contains(text, says)
	})
}

// TestLaw9_ARemovedDatabaseIsToldAndEndsAtOnce: told to stop, gatehouse does not wait for a turn that could not be
// stored.
func TestLaw9_ARemovedDatabaseIsToldAndEndsAtOnce(t *testing.T) {
	t.Parallel()
	hello := func(session string) string {
		body, err := json.Marshal(request("", session, "hello"))
		noErr(t, err)
		return string(body)
	}
	for end, says := range map[string]string{"": "was removed or replaced", "-wal": "The write-ahead log"} {
		t.Run("the file"+end, func(t *testing.T) {
			t.Parallel()
			l := newServeProcess(t, sqliteFile, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=1h",
				"GATEHOUSE_DRAIN_TIMEOUT=1h")
			l.open()
			go l.call(http.MethodPost, "/v1/openharness", hello("s1"),
				"Content-Type: application/json")
			l.until("the turn", l.app, func() bool {
				all := l.events(core.EventFilter{Waiting: true})
				return len(all) == 1 && all[0].Attempt == 1
			})
			l.readyWhen(http.StatusOK, "")
			noErr(t, os.Remove(strings.TrimPrefix(l.url, "sqlite:")+end))
			if status, text := l.call(http.MethodGet, "/readyz", ""); status != http.StatusServiceUnavailable ||
				!strings.Contains(text, says) {
				t.Errorf("/readyz answers %d %s", status, text)
			}
			if status, text := l.call(http.MethodPost, "/v1/openharness",
				hello("s2"), "Content-Type: application/json"); status < 500 {
				t.Errorf("a message is answered %d %s", status, text)
			}
			noErr(t, l.app.cmd.Process.Signal(syscall.SIGTERM))
			l.until("the end", l.app, l.app.gone)
			if out := l.app.out.String(); !strings.Contains(out, "gatehouse: ") || !strings.Contains(out, says) {
				t.Errorf("it prints %s", out)
			}
		})
	}
}

// TestMetricsNeedAToken where they are asked for through a proxy; the first refusal is logged.
func TestMetricsNeedAToken(t *testing.T) {
	t.Parallel()
	const token = "token-of-the-scraper-0123456789"
	file := filepath.Join(t.TempDir(), "token")
	noErr(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	for name, env := range map[string]string{
		"none": "GATEHOUSE_METRICS_TOKEN=", "one": "GATEHOUSE_METRICS_TOKEN=" + token,
		"a file": "GATEHOUSE_METRICS_TOKEN_FILE=" + file,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newServeProcess(t, sqliteFile, "GATEHOUSE_AGENT=echo", env)
			l.open()
			scrape := func(want int, headers ...string) {
				t.Helper()
				status, text := l.call(http.MethodGet, "/metrics", "", headers...)
				if status != want || strings.Contains(text, "gatehouse_turns_running") != (want == http.StatusOK) ||
					want == http.StatusUnauthorized && !strings.Contains(text, "GATEHOUSE_METRICS_TOKEN_FILE") {
					t.Errorf("with %q it answers %d %s", headers, status, text)
				}
			}
			const proxy = "X-Forwarded-For: 10.0.0.7"
			right := map[bool]int{true: http.StatusUnauthorized, false: http.StatusOK}[name == "none"]
			scrape(http.StatusOK)
			for range 3 {
				scrape(http.StatusUnauthorized, proxy)
			}
			scrape(right, proxy, "Authorization: Bearer "+token)
			scrape(http.StatusUnauthorized, proxy, "Authorization: Bearer "+token+"x")
			if n := strings.Count(l.app.out.String(), "a request for /metrics is refused"); n != 1 {
				t.Errorf("the log tells of %d refusals:\n%s", n, l.app.out)
			}
		})
	}
}

// TestDoctorSendsTheTokenForMetrics, and says if it is refused.
func TestDoctorSendsTheTokenForMetrics(t *testing.T) {
	const token = "token-of-the-scraper-0123456789"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, "%s 1\n%s 2\n", metricRunning, metricWorkers)
	}))
	defer s.Close()
	cfg := settings.Config{Listen: strings.TrimPrefix(s.URL, "http://"), MetricsToken: token}
	if turns, ok, err := (program{}).Turns(t.Context(), cfg); err != nil || !ok || turns.Workers != 2 {
		t.Errorf("with the token: %+v, %v, %v", turns, ok, err)
	}
	cfg.MetricsToken = ""
	_, ok, err := (program{}).Turns(t.Context(), cfg)
	if ok || !strings.Contains(core.MessageOf(err), "METRICS_TOKEN") {
		t.Errorf("without it: %v, %v", ok, err)
	}
}

// TestLaw9_RequestsOfSlackThatAreAllTooOld turn /readyz red, if Slack signed them.
func TestLaw9_RequestsOfSlackThatAreAllTooOld(t *testing.T) {
	t.Parallel()
	fake := slacktest.Start(t, slacktest.Options{})
	l := newServeProcess(t, sqliteFile, "SLACK_API_URL="+fake.APIURL(), "SLACK_BOT_TOKEN="+fake.BotToken(),
		"SLACK_SIGNING_SECRET="+fake.SigningSecret())
	l.open()
	l.readyWhen(http.StatusOK, "")
	send := func(want int, ago time.Duration, secret string) {
		t.Helper()
		const body = `{"type":"url_verification","challenge":"c"}`
		at := time.Now().Add(-ago)
		status, text := l.call(http.MethodPost, "/slack/events", body, "Content-Type: application/json",
			"X-Slack-Request-Timestamp: "+strconv.FormatInt(at.Unix(), 10),
			"X-Slack-Signature: "+slacktest.Sign(secret, at, []byte(body)))
		if status != want {
			t.Fatalf("a request that was signed %s ago is answered %d %s", ago, status, text)
		}
	}
	for range 5 {
		send(http.StatusUnauthorized, time.Hour, "another secret of somebody")
	}
	send(http.StatusUnauthorized, time.Hour, fake.SigningSecret())
	send(http.StatusUnauthorized, time.Hour, fake.SigningSecret())
	l.readyWhen(http.StatusOK, "")
	send(http.StatusUnauthorized, time.Hour, fake.SigningSecret())
	l.readyWhen(http.StatusServiceUnavailable, "ahead of that of Slack. Set it right")
	send(http.StatusOK, 0, fake.SigningSecret())
	l.readyWhen(http.StatusOK, "")
}

// TestALackOfFileHandlesIsTold, not only that what needs one can't be reached.
func TestALackOfFileHandlesIsTold(t *testing.T) {
	t.Parallel()
	fake := slacktest.Start(t, slacktest.Options{})
	l := newServeProcess(t, sqliteFile, "SLACK_API_URL="+fake.APIURL(), "SLACK_BOT_TOKEN="+fake.BotToken(),
		"SLACK_SIGNING_SECRET="+fake.SigningSecret())
	few := filepath.Join(t.TempDir(), "few.sh")
	program := l.program
	if program == "" {
		if program = os.Getenv(programKey); program == "" {
			program = os.Args[0]
		}
	}
	noErr(t, os.WriteFile(few, []byte("#!/bin/sh\nulimit -n \"$FEW\"\nexec '"+program+"' \"$@\"\n"), 0o700))
	l.program = few
	const cause, effect = "gatehouse has no file handles left", "Slack can't be reached"
	told := false
	for n := 16; n < 24; n++ { // with the fewest the database can't be opened, with the most all succeeds
		c := l.start([]string{fmt.Sprint("FEW=", n)}, "doctor")
		c.quit(t)
		for line := range strings.Lines(c.out.String()) {
			if strings.Contains(line, effect) && !strings.Contains(line, cause) {
				t.Errorf("with %d the doctor says %s", n, line)
			}
			told = told || strings.Contains(line, effect)
		}
	}
	if !told {
		t.Error("no call of Slack failed")
	}
	c := l.start([]string{"FEW=60"}, "serve")
	l.until("the warning", c, func() bool { return strings.Contains(c.out.String(), "may have only 60 files") })
}
