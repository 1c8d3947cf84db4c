package main

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/cmd/gatehouse/internal/cli"
)

// TestHealth: health finds a server that listens on all interfaces, and fails once it has gone.
func TestHealth(t *testing.T) {
	t.Parallel()
	fake := slacktest.Start(t, slacktest.Options{})
	l := newServeProcess(t, sqliteFile, "SLACK_API_URL="+fake.APIURL(), "SLACK_BOT_TOKEN="+fake.BotToken(),
		"SLACK_SIGNING_SECRET="+fake.SigningSecret())
	_, port, _ := strings.Cut(strings.TrimPrefix(l.at, "http://"), ":")
	everywhere := []string{"GATEHOUSE_LISTEN=0.0.0.0:" + port}
	l.open(everywhere...)
	ask := func(want int, says string, args ...string) {
		t.Helper()
		c := l.start(everywhere, args...)
		c.quit(t)
		if code := c.cmd.ProcessState.ExitCode(); code != want || !strings.Contains(c.out.String(), says) {
			t.Errorf("%v ends with %d and prints %s", args, code, c.out)
		}
	}
	ask(cli.ExitDone, "ok", "health")
	l.until("ready", l.app, func() bool {
		c := l.start(everywhere, "health", "--ready")
		c.quit(t)
		return c.cmd.ProcessState.ExitCode() == 0 && strings.Contains(c.out.String(), `"ready":true`)
	})
	l.app.kill()
	ask(cli.ExitBad, "gatehouse serve does not answer at http://127.0.0.1:"+port+"/healthz", "health")
}

func TestReachable(t *testing.T) {
	for address, want := range map[string]string{
		"0.0.0.0:8080": "127.0.0.1:8080", ":8080": "127.0.0.1:8080", "[::]:8080": "[::1]:8080",
		"10.0.0.7:80": "10.0.0.7:80", "localhost:80": "localhost:80",
	} {
		if got := reachable(address); got != want {
			t.Errorf("%s is reached at %s, want %s", address, got, want)
		}
	}
}

// TestImageIsChecked: the image has no shell, so its health check must be a command of the program. What is built into
// it holds no database and no secrets of the folder it is built in.
func TestImageIsChecked(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		noErr(t, err)
		return string(text)
	}
	if !regexp.MustCompile(`(?m)^HEALTHCHECK .*CMD \["/gatehouse", "health"\]$`).MatchString(read("Dockerfile")) {
		t.Error("the Dockerfile has no health check that runs /gatehouse health")
	}
	for _, line := range []string{`USER 65532:65532`, `FROM scratch`, `RUN .*cmd/gatehouse/deploy/build\.sh .*`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(read("Dockerfile")) {
			t.Errorf("the Dockerfile has no line %s", line)
		}
	}
	ignored := map[string]bool{}
	for lines := bufio.NewScanner(strings.NewReader(read(".dockerignore"))); lines.Scan(); {
		ignored[lines.Text()] = true
	}
	for _, want := range []string{".git", "**/*.db", "**/*.db-wal", "**/.env", "cmd/gatehouse/deploy/secrets"} {
		if !ignored[want] {
			t.Errorf(".dockerignore does not name %s", want)
		}
	}
}
