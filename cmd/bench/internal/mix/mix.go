// Package mix is what people ask a bot for on a working day, and what it answers: Markdown of every kind, plain
// words, and actions that somebody has to approve. The answers are a script of gatehouse's own agent, so no model is
// asked, and every version of gatehouse answers the same.
package mix

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"gatehouse/cmd/bench/internal/ledger"
)

// script answers by the first word of a message; the text of each answer begins with the event's mark.
//
//go:embed script.json
var script []byte

// words are the first words of the events in turn: of eight, one needs an approval, five have Markdown, and two have
// none.
var words = [...]string{action, "steps", "table", "hello", "steps", "review", "hello", "review"}

// action is the word that asks for something that needs an approval.
const action = "note"

// Words is what the nth event says.
func Words(n int) string { return fmt.Sprintf("%s %s please", words[n%len(words)], ledger.Mark(n)) }

// Asks reports whether the nth event leads to a card, which somebody has to press before it is answered.
func Asks(n int) bool { return words[n%len(words)] == action }

// Write writes the script to a folder, and returns the value of GATEHOUSE_AGENT for it.
func Write(dir string) (agent string, err error) {
	path := filepath.Join(dir, "script.json")
	return "script:" + path, os.WriteFile(path, script, 0o600)
}
