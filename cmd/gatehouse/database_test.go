package main

import (
	"context"
	"database/sql"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/storage/postgres/postgrestest"
)

// TestDoctorReportsADamagedFile: a page of a table that the doctor itself does not read is broken.
func TestDoctorReportsADamagedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "g.db")
	noErr(t, seed(file))
	db, err := sql.Open("sqlite3", file)
	noErr(t, err)
	var page, size int64
	err = db.QueryRow(`select rootpage, page_size from sqlite_master, pragma_page_size where name = 'notes'`).Scan(
		&page, &size)
	db.Close()
	noErr(t, err)
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt([]byte(strings.Repeat("\xff", int(size))), (page-1)*size)
		f.Close()
	}
	noErr(t, err)
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	t.Setenv("GATEHOUSE_DATABASE_URL", "sqlite:"+file)
	if code, out, _ := gatehouse(t, "doctor"); code != cli.ExitBad || !strings.Contains(out, "\nfail  database ") ||
		!strings.Contains(out, "is damaged") {
		t.Errorf("it ends with %d and prints\n%s", code, out)
	}
}

// forward listens on an address and connects each connection with another one, until the test ends.
func forward(t *testing.T, from, to string) {
	t.Helper()
	l, err := net.Listen("tcp", from)
	noErr(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			pipe := func(to, from net.Conn) { _, _ = io.Copy(to, from); to.Close() }
			go pipe(in, out)
			go pipe(out, in)
		}
	}()
}

// TestServeWaitsForPostgres: serve waits for a database server that is not there yet, until it is or until it is told
// to stop. Other commands fail at once.
func TestServeWaitsForPostgres(t *testing.T) {
	t.Parallel()
	postgrestest.Need(t)
	fake := slacktest.New(slacktest.Options{})
	l := newServeProcess(t, postgresServer, "SLACK_API_URL="+fake.APIURL(), "SLACK_BOT_TOKEN="+fake.BotToken(),
		"SLACK_SIGNING_SECRET="+fake.SigningSecret())
	server, err := url.Parse(l.url)
	noErr(t, err)
	real := server.Host
	server.Host = freeAddress(t)
	l.url = server.String()

	c := l.start(nil, "queue")
	c.quit(t)
	if code := c.cmd.ProcessState.ExitCode(); code != cli.ExitBad ||
		!strings.Contains(c.out.String(), "Can't reach the database") {
		t.Errorf("another command ends with %d and prints %s", code, c.out)
	}
	waits := func(c *child) func() bool {
		return func() bool {
			return c.gone() || strings.Contains(c.out.String(), "waiting for the database; trying again")
		}
	}
	stopped := l.start(nil, "serve")
	l.until("waiting", stopped, waits(stopped))
	noErr(t, stopped.cmd.Process.Signal(syscall.SIGTERM))
	if <-stopped.done; stopped.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("told to stop, it ends with %d and prints %s", stopped.cmd.ProcessState.ExitCode(), stopped.out)
	}
	app := l.start(nil, "serve")
	l.app = app
	l.until("waiting", app, waits(app))
	forward(t, server.Host, real)
	up, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if l.waitUp(up); up.Err() != nil {
		t.Errorf("it does not serve once the database is there:\n%s", app.out)
	}
}
