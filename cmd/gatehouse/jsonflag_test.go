package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"gatehouse/cmd/gatehouse/internal/admin"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/hrfcmd"
)

// withoutJSON are the commands without --json, each with the reason.
var withoutJSON = map[string]string{
	"serve":            "it prints a log, whose form GATEHOUSE_LOG_FORMAT sets",
	"chat":             "a conversation; a pipe has a form of its own",
	"mcp serve":        "its output is a protocol",
	"help":             "pages for people",
	"completion":       "a script of a shell",
	"__complete":       "words for such a script",
	"approvals answer": "--json is the answer",
	"people export":    "it prints nothing else",
}

// eachCommand calls visit for each command that runs, by its words.
func eachCommand(t *testing.T, visit func(name string, command *kong.Node)) {
	t.Helper()
	parser, err := kong.New(&commands{Manifest: admin.ManifestsOf(platforms())},
		kong.ExplicitGroups(commandGroups), kong.Vars{"version": "", "person": ""},
		admin.Help, hrfcmd.Help, commandHelp)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(node *kong.Node, words []string)
	walk = func(node *kong.Node, words []string) {
		if len(node.Children) == 0 {
			visit(strings.Join(words, " "), node)
		}
		for _, child := range node.Children {
			walk(child, append(words[:len(words):len(words)], child.Name))
		}
	}
	walk(parser.Model.Node, nil)
}

// flagNamed is a command's own flag, or one of a command above it.
func flagNamed(command *kong.Node, name string) *kong.Flag { return flagOf(command, "--"+name) }

// TestEveryCommandThatPrintsHasJSON, but for those of the table, which has no others.
func TestEveryCommandThatPrintsHasJSON(t *testing.T) {
	left := map[string]bool{}
	for name := range withoutJSON {
		left[name] = true
	}
	eachCommand(t, func(name string, command *kong.Node) {
		flag := flagNamed(command, "json")
		delete(left, name)
		if has := flag != nil && flag.IsBool(); has == (withoutJSON[name] != "") {
			t.Errorf("gatehouse %s has --json: %t, and the table says %q", name, has, withoutJSON[name])
		}
	})
	for name := range left {
		t.Errorf("there is no command %s", name)
	}
}

// TestWhatCantBeUndoneHasYes.
func TestWhatCantBeUndoneHasYes(t *testing.T) {
	asks := map[string]bool{
		"sessions delete": true, "sessions reset": true, "deadletters drop": true, "migrate": true,
		"people erase": true,
	}
	eachCommand(t, func(name string, command *kong.Node) {
		if has := flagNamed(command, "yes") != nil; has != asks[name] {
			t.Errorf("gatehouse %s has --yes: %t", name, has)
		}
	})
}

// TestAQuestionBeforeWhatCantBeUndone is asked at a terminal: any answer but y changes nothing.
func TestAQuestionBeforeWhatCantBeUndone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args  []string
		typed string
		code  int
		said  string
	}{
		"no answer": {nil, "\r", cli.ExitBad, "Nothing was changed."},
		"no":        {nil, "no\r", cli.ExitBad, "Nothing was changed."},
		"the end":   {nil, "\x04", cli.ExitBad, "Nothing was changed."},
		"Ctrl-C":    {nil, "\x03", cli.ExitBad, "Nothing was changed."},
		"yes":       {nil, "y\r", cli.ExitDone, "Deleted the session console:demo@1."},
		"--yes":     {[]string{"--yes"}, "", cli.ExitDone, "Deleted the session console:demo@1."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkbench(t)
			noErr(t, seed(strings.TrimPrefix(w.url, "sqlite:")))
			child, keyboard, _ := w.atTerminal(append([]string{"sessions", "delete", "demo@1"}, c.args...)...)
			if c.typed != "" {
				w.sees(child, "Delete 4 messages of the session console:demo@1? This can't be undone. [y/N] ")
				w.types(keyboard, c.typed)
			}
			w.sees(child, c.said)
			<-child.done
			if code := child.cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("it ends with %d and prints %s", code, child.out)
			}
			if asked := strings.Contains(child.out.String(), "[y/N]"); asked != (c.typed != "") {
				t.Errorf("it asks: %t", asked)
			}
		})
	}
}
