package main

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest/toy"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
)

// withToy are the platforms of the program and one more.
func withToy() []core.Driver { return append(platforms(), new(toy.Config)) }

const toyPolicy = `version: 1
people: {bob: [toy:bob, slack:U2BOB]}
groups: {desk: [person:bob, toy:team-desk]}
rules:
  - {name: notes, tools: [note.*], action: ask, approvers: [group:desk], notify: [here, toy:room-attic]}
`

// TestAToyPlatformIsAFolderAndALine: a platform that stands in one folder, and in the list that the program is given,
// is asked, decides, and is in the policy, the settings and the commands like any other.
func TestAToyPlatformIsAFolderAndALine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	noErr(t, os.WriteFile(file, []byte(toyPolicy), 0o600))
	token := "the token of " + t.Name()
	room := toy.Enter(token)
	s := &testGateway{t: t, code: make(chan int, 8), platforms: withToy}
	s.db = "sqlite:" + filepath.Join(t.TempDir(), "g.db")
	s.settings.set(map[string]string{
		"GATEHOUSE_DATABASE_URL": s.db, "GATEHOUSE_LISTEN": "127.0.0.1:0", "GATEHOUSE_LOG_FORMAT": "json",
		"GATEHOUSE_APPROVERS": "toy:bob", "GATEHOUSE_APPROVAL_POLICY": file, "TOY_TOKEN": token,
	})
	s.start()
	s.ready(http.StatusOK)
	room.Say(t, "note add milk")
	shown := func(text string) bool { return strings.Contains(room.Shown(), text) }
	waitUntil(t, func() bool { return shown("open note.add") }, "the card")
	room.Click(t, core.Click{Approval: "card/", Choice: core.Approve})
	waitUntil(t, func() bool { return shown("approved note.add") }, "the card of what was decided")
	waitUntil(t, func() bool { return shown("milk") && !shown("open note.add") }, "the cards of what was decided")
	waitUntil(t, func() bool { return shown("Done: ") }, "the reply")
	for _, c := range []struct {
		command string
		code    int
		shows   []string
	}{
		{"config", cli.ExitDone, []string{"TOY_TOKEN", "••••••", "toy:bob"}},
		{"doctor --quick", cli.ExitDone, []string{"toy room", "The room is there."}},
		{"manifest toy --lid blue", cli.ExitDone, []string{`{"Lid":"blue"}`}},
		{"manifest --help", cli.ExitDone, []string{"manifest toy", "manifest slack", "manifest discord"}},
		{"approvals explain --tool note.add --args {} --as toy:ann --by toy:bob", cli.ExitDone,
			[]string{"notes", "toy:team-desk", "toy:room-attic", "toy:bob may"}},
		{"approvals explain --tool note.add --args {} --as toi:ann", cli.ExitUsage,
			[]string{"openharness:, console:, local: or toy: and the id"}},
	} {
		code, out := s.command(strings.Fields(c.command)...)
		if code != c.code {
			t.Errorf("%s gives %d: %s", c.command, code, out)
		}
		for _, text := range c.shows {
			if !strings.Contains(out, text) {
				t.Errorf("%s does not show %q:\n%s", c.command, text, out)
			}
		}
	}
	s.settings.set(map[string]string{"GATEHOUSE_APPROVERS": "toy:bob,toi:bob"})
	code, out := s.command("config")
	if code != cli.ExitUsage || !strings.Contains(out, "toi:bob: there is no such platform") ||
		!strings.Contains(out, "or toy:") {
		t.Errorf("%d: %s", code, out)
	}
	without := &testGateway{t: t}
	without.settings.set(map[string]string{"GATEHOUSE_APPROVERS": "toy:bob"})
	code, out = without.command("config")
	if code != cli.ExitUsage || !strings.Contains(out, "toy:bob: there is no such platform") {
		t.Errorf("a program without the toy knows it: %d: %s", code, out)
	}
}

// TestNobodyKnowsTheToy: no product code names it, and it is as small as a platform can be.
func TestNobodyKnowsTheToy(t *testing.T) {
	lines := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "toy") {
			lines += strings.Count(string(text), "\n")
		} else if slices.ContainsFunc([]string{"toy:", `/toy"`, "TOY_"}, func(word string) bool {
			return strings.Contains(string(text), word)
		}) {
			t.Errorf("%s knows the toy", path)
		}
		return err
	})
	if err != nil || lines == 0 || lines > 220 {
		t.Errorf("the toy and its fake have %d lines: %v", lines, err)
	}
}
