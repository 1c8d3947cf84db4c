package main

import (
	"context"
	_ "embed" // the page
	"os"
	"path"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"gatehouse/adapters/agents"
	"gatehouse/adapters/console"
	"gatehouse/adapters/mcp"
	"gatehouse/adapters/openharness"
	"gatehouse/adapters/tools"
	"gatehouse/adapters/web"
	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/manual"
	"gatehouse/core"
	"gatehouse/core/agent"
)

//go:embed README.md
var ownPage string

// withPage is a platform that has a page.
type withPage interface{ Page() string }

// manualPages are the rooms' pages. The repository's first page is not among them: it is for people who have the
// repository.
func manualPages() []manual.Page {
	all := []manual.Page{
		{Room: "cmd/gatehouse", Text: ownPage},
		{Room: "approvals", Text: approvals.Page},
		{Room: "core/agent", Text: agent.Page},
		{Room: "adapters/tools", Text: tools.Page},
		{Room: "adapters/mcp", Text: mcp.Page},
		{Room: "adapters/agents", Text: agents.Page},
		{Room: "adapters/web", Text: web.Page},
		{Room: "adapters/openharness", Text: openharness.Page},
	}
	for _, d := range platforms() {
		if p, ok := d.(withPage); ok {
			all = append(all, manual.Page{Room: "adapters/" + d.Name(), Text: p.Page()})
		}
	}
	return all
}

// helpCmd is gatehouse help.
type helpCmd struct {
	Of []string `arg:"" optional:"" name:"command|page" help:"The command, the page or its section. None: all."`
}

// Help says what an argument may be.
func (helpCmd) Help() string {
	return "A command is its words, such as approvals approve. A page is the name of a room, such as adapters/slack, " +
		"and a section follows a #, as in adapters/slack#scopes. Without an argument all commands and pages are listed."
}

// Run prints a page, or what --help prints after the same command; without an argument all commands and all pages. It
// fails if there is no such command, page or section.
func (c helpCmd) Run(_ context.Context, a *cli.App, parsed *kong.Context) error {
	if len(c.Of) == 0 {
		defer listPages(a) // after the commands
	}
	if len(c.Of) == 1 && isPage(c.Of[0], parsed.Model.Node) {
		return printPage(a, c.Of[0])
	}
	_, err := parsed.Parse(append(c.Of, "--help")) // a valid one ends the program, by a panic
	if err != nil && len(c.Of) == 1 {
		return core.Errorf(core.Invalid, "There is no command and no page %s; gatehouse help lists them.", c.Of[0])
	}
	return unreadable(err)
}

// isPage reports whether an argument names a page and no command.
func isPage(name string, commands *kong.Node) bool {
	_, known := pageOf(name)
	return strings.ContainsAny(name, "/#") || known && childOf(commands, name) == nil
}

// pageOf finds a page by its room, or by the room's last word, which is that of one page.
func pageOf(name string) (manual.Page, bool) {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "README.md"), "/")
	for _, p := range manualPages() {
		if p.Room == name || path.Base(p.Room) == name {
			return p, true
		}
	}
	return manual.Page{}, false
}

// printPage prints a page, or the section that is named after a #.
func printPage(a *cli.App, name string) error {
	room, section, _ := strings.Cut(name, "#")
	page, ok := pageOf(room)
	if !ok {
		var rooms []string
		for _, p := range manualPages() {
			rooms = append(rooms, p.Room)
		}
		return core.Errorf(core.Invalid, "There is no page %s. The pages are %s.", room, strings.Join(rooms, ", "))
	}
	if section != "" {
		part, ok := page.Section(section)
		if !ok {
			return core.Errorf(core.Invalid, "The page %s has no section %s. Its sections are %s.",
				page.Room, section, strings.Join(page.Anchors(), ", "))
		}
		page = part
	}
	style := manual.Style{Width: 80}
	if console.IsTerminal(a.Out) {
		style.Colours = os.Getenv("NO_COLOR") == ""
		if columns, _, err := term.GetSize(int(a.Out.(*os.File).Fd())); err == nil {
			style.Width = min(max(columns, 40), 120)
		}
	}
	_, err := a.Out.Write([]byte(page.Print(style)))
	return err
}

func listPages(a *cli.App) {
	a.PrintLine("\nPages:")
	for _, p := range manualPages() {
		name := p.Room
		if !strings.Contains(name, "/") {
			name += "#" // without it, it is a command
		}
		a.PrintLine("  %-22s%s", name, p.Title())
	}
	a.PrintLine("\nRun \"gatehouse help PAGE\" for a page, \"gatehouse help PAGE#SECTION\" for a section of it, " +
		"such as\n" +
		"\"gatehouse help adapters/slack#scopes\".")
}
