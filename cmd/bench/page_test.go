package main

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCommandsOfThePage: the flags of each command of README.md exist.
func TestCommandsOfThePage(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)go run \./cmd/bench (\w+)(.*?)(?:\s+#.*)?$`)
	commands := command.FindAllStringSubmatch(string(text), -1)
	for _, m := range commands {
		var args []string
		for _, arg := range regexp.MustCompile(`(?:'[^']*'|[^\s'])+`).FindAllString(m[2], -1) {
			if arg = strings.Trim(arg, "'"); arg == "/tmp/gatehouse-before" {
				arg = os.Args[0] // a program that is there
			}
			args = append(args, arg)
		}
		if _, ok := benches[m[1]]; !ok {
			t.Errorf("there is no bench %s", m[1])
		}
		if m[1] == "slack" || m[1] == "discord" || m[1] == "compare" {
			if _, err := parse(m[1], args, io.Discard); err != nil {
				t.Errorf("%s: %v", m[0], err)
			}
		}
	}
	if len(commands) < 5 {
		t.Errorf("the page has %d commands", len(commands))
	}
}
