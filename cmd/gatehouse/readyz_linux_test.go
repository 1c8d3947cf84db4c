package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gatehouse/storage/postgres/postgrestest"
)

// smallDiskKey is the variable with a folder that a child covers with a small disk of its own before it runs the
// program.
const smallDiskKey = "TEST_SMALL_DISK"

// Package variables are initialized before init functions run, and so before the child runs the program.
var _ = func() error {
	folder := os.Getenv(smallDiskKey)
	if folder == "" {
		return nil
	}
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("tmpfs", folder, "tmpfs", 0, "size=32m")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "a small disk:", err)
		os.Exit(1)
	}
	if os.Getenv(childKey) == "" { // this process only tests whether mounting works
		os.Exit(0)
	}
	return nil
}()

// TestReadyzKnowsAFullDisk fills the disk of the database while the process runs: it is not ready. Once there is space
// again, it is ready and answers.
func TestReadyzKnowsAFullDisk(t *testing.T) {
	t.Parallel()
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo")
	folder := p.smallDisk()
	p.open()
	p.readyAgain()
	filler := filepath.Join(fmt.Sprintf("/proc/%d/root", p.app.cmd.Process.Pid), folder, "filler")
	if err := os.WriteFile(filler, make([]byte, 32<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	p.notReady("disk")
	noErr(t, os.Remove(filler))
	p.readyAgain()
	ask := p.ann.Posts("C1", p.slack.MentionOfBot()+" word-0-0.")
	p.reads("C1", ask.TS, "word-0-0.")
}

// TestReadyzKnowsADatabaseThatIsGone takes the database away while the process runs and brings it back.
func TestReadyzKnowsADatabaseThatIsGone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		p := newSlackProcessOn(t, e, "GATEHOUSE_AGENT=echo")
		p.open()
		p.readyAgain()
		back := p.takeDatabaseAway()
		p.notReady("database")
		back()
		p.readyAgain()
		ask := p.ann.Posts("C1", p.slack.MentionOfBot()+" word-0-0.")
		p.reads("C1", ask.TS, "word-0-0.")
	})
}

// takeDatabaseAway moves the file away, or lets nobody connect to the server's database. It returns the way back.
func (p *slackProcess) takeDatabaseAway() (back func()) {
	t := p.workbench.t
	t.Helper()
	if file, ok := strings.CutPrefix(p.url, "sqlite:"); ok {
		move := func(from, to string) {
			noErr(t, os.Rename(from, to))
		}
		move(file, file+".away")
		return func() { move(file+".away", file) }
	}
	run := func(statements ...string) {
		noErr(t, postgrestest.Run(os.Getenv(postgrestest.Key), statements...))
	}
	name := postgrestest.Name(p.url)
	run(`alter database `+name+` with allow_connections false`,
		`select pg_terminate_backend(pid) from pg_stat_activity where datname = '`+name+`'`)
	return func() { run(`alter database ` + name + ` with allow_connections true`) }
}
