package main

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"os"
	"strings"

	"gatehouse/adapters/agents"
	"gatehouse/cmd/gatehouse/internal/admin"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
)

// mcpCommands is gatehouse mcp.
type mcpCommands struct {
	Serve mcpCmd         `cmd:"" default:"withargs" help:"${mcp_serve}"`
	List  admin.MCPList  `cmd:"" help:"${mcp_list}"`
	Login admin.MCPLogin `cmd:"" help:"Log in to a remote MCP server of GATEHOUSE_MCP_CONFIG in a browser."`
}

// defaultListen is where gatehouse serve is on this machine, if nothing says otherwise.
const defaultListen = "127.0.0.1:8080"

// mcpCmd is gatehouse mcp serve.
type mcpCmd struct {
	URL       string `env:"GATEHOUSE_SERVER,GATEHOUSE_URL" help:"${mcp_url}"`
	Token     string `env:"GATEHOUSE_TOKEN" hidden:"" help:"A token of GATEHOUSE_TOKENS there."`
	TokenFile string `env:"GATEHOUSE_TOKEN_FILE" type:"path" help:"${mcp_token_file}"`
}

// Run serves MCP on the standard streams: an agent's client starts it, and it asks the running gatehouse. It needs no
// database and no configuration.
func (c mcpCmd) Run(ctx context.Context, a *cli.App) error {
	token := c.Token
	if c.TokenFile != "" {
		text, err := core.ReadText(c.TokenFile)
		if err != nil {
			return core.Errorf(core.Invalid, "The token can't be read: %v.", err)
		}
		token = strings.TrimSpace(string(text))
	}
	at := cmp.Or(c.URL, "http://"+reachable(cmp.Or(os.Getenv("GATEHOUSE_LISTEN"), defaultListen)))
	if u, err := url.Parse(at); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return core.Errorf(core.Invalid,
			"The address of gatehouse, %q, is no URL. Write it like https://gatehouse.example.com.", at)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return core.Errorf(core.Invalid,
			"The token has a space, a line break or another character that no token has. Give the token alone, "+
				"without its name.")
	}
	err := agents.Client{URL: at, Token: token}.Serve(ctx, io.NopCloser(a.In), unclosed{a.Out})
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return core.Errorf(core.Internal, "The agent's client ended the conversation in an odd way: %v.", err)
}

// unclosed is a stream that is not closed here.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
