package admin

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"time"

	"gatehouse/adapters/mcp"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
)

// MCPList is gatehouse mcp list.
type MCPList struct{ cli.JSONFlag }

// serverView is the JSON output of an MCP server.
type serverView struct {
	Server   string        `json:"server"`
	Running  bool          `json:"running"`
	About    string        `json:"about"` // the name and version that it gives itself
	Reason   string        `json:"reason"`
	Tools    []mcpToolView `json:"tools"`
	Warnings []string      `json:"warnings"`
}

// mcpToolView is that of one of its tools.
type mcpToolView struct {
	toolView
	Annotations annotations `json:"annotations"`
	Digest      string      `json:"digest"`
	Pin         mcp.Pin     `json:"pin"`
	Confirm     string      `json:"confirm"` // the entry of mcp.json that confirms a definition that changed
}

// annotations are those that a policy may trust, as it sees them.
type annotations struct {
	ReadOnly    bool `json:"read_only"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`
}

// Run starts the servers, prints what they are and what the policy says of their tools, and ends them.
func (c MCPList) Run(ctx context.Context, a *cli.App) error {
	cfg, _, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	reports, err := look(ctx, a, cfg.MCP)
	if err != nil {
		return err
	}
	turn := core.Turn{Actor: core.Actor{ID: core.LocalPerson, Local: true}}
	servers := cli.List(reports, func(r mcp.Report) serverView {
		tools := cli.List(r.Tools, func(t mcp.ToolReport) mcpToolView {
			says := t.Call.Annotations
			return mcpToolView{
				viewTool(cfg.Policy.Policy(), turn, t.Call, ""),
				annotations{says.ReadOnly, !says.Additive, says.Idempotent}, t.Digest, t.Pin, t.Confirm,
			}
		})
		return serverView{r.Server, r.Running, r.About, r.Reason, tools, append([]string{}, r.Warnings...)}
	})
	if c.JSON {
		return a.PrintJSON(servers)
	}
	return c.print(a, servers)
}

// print prints each server in a line, with its tools below.
func (c MCPList) print(a *cli.App, servers []serverView) error {
	if len(servers) == 0 {
		a.PrintLine("There are no MCP servers; GATEHOUSE_MCP_CONFIG names the file with them.")
	}
	for i, s := range servers {
		if i > 0 {
			a.PrintLine("")
		}
		state := "runs: " + s.About
		if !s.Running {
			state = "is away: " + s.Reason
		}
		a.PrintLine("%s %s", s.Server, state)
		for _, warning := range s.Warnings {
			a.PrintLine("  %s", warning)
		}
		if len(s.Tools) == 0 {
			continue
		}
		if err := a.Table("", []string{"TOOL", "RISK", "RULE", "A CALL", "PIN"},
			cli.List(s.Tools, mcpToolView.row)); err != nil {
			return err
		}
	}
	return nil
}

// pinShown is how much of a digest a table shows.
const pinShown = 12

// row is the tool's row of the table. One whose definition differs from that seen first shows what confirms it.
func (t mcpToolView) row() []string {
	pin := string(t.Pin) + " " + cmp.Or(t.Confirm, t.Digest[:pinShown])
	return []string{t.Tool, t.Risk, t.decision.Decider(), t.decision.Happens(), pin}
}

// lookLimit is how long MCP servers may take to start.
const lookLimit = time.Minute

// look starts the MCP servers, and says how they are. Without a database nothing of them was seen before.
func look(ctx context.Context, a *cli.App, servers mcp.Config) ([]mcp.Report, error) {
	if len(servers.Servers) == 0 {
		return nil, nil
	}
	o := mcp.Options{Config: servers}
	store, err := a.Store(ctx)
	switch {
	case err == nil:
		o.Pins, o.Logins = store, store
	case core.CategoryOf(err) == core.NotFound:
		o.Pins = noPins{}
	default:
		return nil, err
	}
	return mcp.Look(ctx, o, lookLimit), nil
}

// noPins are the pins of a database that is not there yet.
type noPins struct{}

func (noPins) Get(context.Context, string) (string, error) { return "", nil }

func (noPins) Put(context.Context, string, string) error { return nil }

// MCPLogin is gatehouse mcp login.
type MCPLogin struct {
	cli.JSONFlag
	Name  string `arg:"" help:"The name of the server in the file of GATEHOUSE_MCP_CONFIG."`
	Paste bool   `help:"The browser runs on another machine: paste the address that it ends at."`
}

// Run logs in and stores the login, in a new database if there is none yet.
func (c MCPLogin) Run(ctx context.Context, a *cli.App) error {
	cfg, log, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	store, err := a.NewStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	var paste io.Reader
	if c.Paste {
		paste = a.In
	}
	out := a.Out
	if c.JSON {
		out = a.Err // where the browser has to go is no part of the result
	}
	made, err := cfg.MCP.Login(ctx, c.Name, store, out, paste)
	if err != nil {
		return cli.Bad(err)
	}
	if store.SignsWithItsKey() {
		a.Warn("GATEHOUSE_SECRET_KEY is not set, so the key that the login is encrypted under lies beside it in the " +
			"database. Set GATEHOUSE_SECRET_KEY.")
	}
	if !made.Until.IsZero() {
		a.Warn("The authorization server gave no refresh token: the login ends at " + cli.Stamp(made.Until) +
			", and somebody has to log in again then.")
	}
	if c.JSON {
		return a.PrintJSON(struct {
			Server string    `json:"server"`
			Until  time.Time `json:"until,omitzero"`
		}{c.Name, made.Until.UTC()})
	}
	a.PrintLine("Logged in to the MCP server %s. A running gatehouse has the login within 5 seconds.", c.Name)
	return nil
}
