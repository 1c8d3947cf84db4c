package admin

import (
	"context"
	"io"
	"log/slog"

	"gatehouse/cmd/gatehouse/internal/cli"
)

// MCPLogin is gatehouse mcp login.
type MCPLogin struct {
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
	made, err := cfg.MCP.Login(ctx, c.Name, store, a.Out, paste)
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
	a.PrintLine("Logged in to the MCP server %s. A running gatehouse has the login within 5 seconds.", c.Name)
	return nil
}
