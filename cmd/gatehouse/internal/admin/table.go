// Package admin is the commands that show and change what gatehouse keeps in its database (sessions, turns, approvals,
// dead letters, the queue), and those that need no database: config, manifest, join-check and mutation-check. For
// example, gatehouse turns list --waiting prints
//
//	TURN  KIND     CONVERSATION  ACTOR  ACCEPTED                 STATE
//	10    message  console:demo  Ann    2026-03-01 12:11:00 UTC  waiting
//
// Each noun has a view, whose members are the JSON output, and a table of the rows that list prints. Commands that read
// fail with not_found where there is no database, and create none.
//
// Everything printed is cleaned of characters that a terminal might obey. Secrets are masked everywhere but in sessions
// export.
package admin

import (
	"cmp"
	"fmt"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// table is what a list prints: with --json the views, on whose members scripts rely, otherwise a row of each.
type table[View any] struct {
	none   string // printed where there is none
	header []string
	row    func(View) []string
}

func (t table[View]) print(a *cli.App, json cli.JSONFlag, all []View) error {
	if json.JSON {
		return a.PrintJSON(all)
	}
	return a.Table(t.none, t.header, cli.List(all, t.row))
}

// Agent is the configured agent as the commands know it: without MCP servers, which are not started for them.
type Agent interface {
	Tools() *tool.Registry
	// Editing is what changing the arguments of a call needs. Error: invalid, if the configuration is.
	Editing(store *storage.Store) (approvals.Editing, error)
}

// nameOf is a person's name, or the id where the name is not known.
func nameOf(a core.Actor) string { return cmp.Or(a.Name, a.ID) }

// nameAndID is a person's name with the id.
func nameAndID(a core.Actor) string { return nameOf(a) + " (" + a.ID + ")" }

// because is a cause behind a colon; "" for none.
func because(cause string) string {
	if cause == "" {
		return ""
	}
	return ": " + cause
}

// count is a number of things, with the noun in the plural if needed.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
