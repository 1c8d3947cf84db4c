package mcp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"gatehouse/adapters/mcp/internal/login"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/strictjson"
)

// OAuth is what an entry says about the login to its server. Logins keeps logins, for all processes.
type (
	OAuth  = login.Client
	Logins = login.Store
)

// oauth reads the field "oauth".
func (f *fields) oauth(m strictjson.Member) *OAuth {
	if m.Value.Kind != strictjson.Object {
		f.fault(m.Line, f.server,
			`"oauth" must be an object; write {} if the authorization server registers clients by itself, or `+
				`{"client_id": "…"}`)
		return nil
	}
	o := &OAuth{}
	for _, one := range m.Value.Members {
		switch one.Key {
		case "client_id":
			o.ID = f.text("oauth.client_id", one.Value)
		case "client_secret_env":
			secret, set := f.getenv(one.Value.String)
			if one.Value.Kind != strictjson.String || !set || secret == "" {
				f.fault(one.Line, f.server,
					`"oauth.client_secret_env" must be the name of a variable that is set in gatehouse's environment`)
			}
			o.Secret = secret
			f.expanded = append(f.expanded, expansion{"client_secret", one.Value.String, secret})
		case "scopes":
			o.Scopes = f.list(one)
		default:
			f.warn(one.Line, f.server, `%q in "oauth" is ignored; it has client_id, client_secret_env and scopes`,
				one.Key)
		}
	}
	if o.Secret != "" && o.ID == "" {
		f.fault(m.Line, f.server, `"oauth" has a "client_secret_env" and no "client_id"`)
	}
	return o
}

// authorizes reports whether the entry itself has what authorizes its requests.
func (s Server) authorizes() bool {
	for name := range s.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

// loginOf is what a login needs to know of an entry.
func (s Server) loginOf() login.Server {
	of := login.Server{Name: s.Name, URL: s.URL, Headers: s.Headers, Known: s.OAuth != nil}
	if s.OAuth != nil {
		of.Client = *s.OAuth
	}
	return of
}

// newLogin makes the source of the tokens for an entry; nil if there is none.
func newLogin(entry Server, logins Logins, log *slog.Logger) *login.Source {
	if entry.URL == "" || logins == nil || entry.authorizes() {
		return nil
	}
	return login.NewSource(entry.loginOf(), logins, log)
}

func needsLogin(err error) bool { return errors.As(err, new(login.Needed)) }

// rest waits before the next start of a server. One that is away for want of a login is started as soon as there is
// one.
func (s *server) rest(ctx context.Context, pause time.Duration, why error) {
	ctx, cancel := context.WithTimeout(ctx, pause)
	defer cancel()
	if needsLogin(why) {
		s.login.Await(ctx)
		return
	}
	<-ctx.Done()
}

// LoggedIn is what a person should know about a new login.
type LoggedIn struct {
	Until time.Time // when it ends, and has to be made again; zero: gatehouse renews it, or it does not end
}

// Login logs in to one of the servers, and stores the login. It writes to out what the person has to do, and reads from
// paste the address that the browser ended at; paste is nil if the browser can reach this machine's loopback.
func (cfg Config) Login(
	ctx context.Context, name string, logins Logins, out io.Writer, paste io.Reader,
) (LoggedIn, error) {
	at := slices.IndexFunc(cfg.Servers, func(s Server) bool { return s.Name == name })
	switch {
	case at < 0 && len(cfg.Servers) == 0:
		return LoggedIn{}, core.Errorf(core.NotFound, "There are no MCP servers; GATEHOUSE_MCP_CONFIG names the file "+
			"with them. Set it as it is set for gatehouse serve.")
	case at < 0:
		return LoggedIn{},
			core.Errorf(core.NotFound, "There is no MCP server %s in the file of GATEHOUSE_MCP_CONFIG.", name)
	case cfg.Servers[at].URL == "":
		return LoggedIn{},
			core.Errorf(core.Invalid,
				`The MCP server %s is started by a command, so nobody logs in to it; use its "env".`, name)
	case cfg.Servers[at].authorizes():
		return LoggedIn{}, core.Errorf(core.Invalid,
			`The entry of the MCP server %s has "Authorization" in its "headers", which would count instead of a `+
				`login. Remove it there first.`,
			name)
	}
	r, err := login.Run(ctx, cfg.Servers[at].loginOf(), logins, out, paste)
	if err != nil {
		return LoggedIn{}, cfg.Servers[at].hideLogin(err, logins)
	}
	if r.Token.RefreshToken != "" {
		return LoggedIn{}, nil
	}
	return LoggedIn{Until: r.Token.Expiry}, nil
}

// hideLogin hides the entry's secrets in the error of a login: net/http puts the URL into its errors, and an
// authorization server what it was sent. It is one line that a terminal can show, of whatever page a server answered.
func (s Server) hideLogin(err error, logins Logins) error {
	var failed *core.Error
	if !errors.As(err, &failed) {
		return err
	}
	one := newServer(s, Options{Logins: logins, Log: slog.New(slog.DiscardHandler)})
	hide := func(text string) string { return cut(mask.EscapeLine(one.Hide(text)), maxReason) }
	shown := core.Errorf(failed.Category, "%s", hide(failed.Message))
	if failed.Err != nil {
		shown.Err = errors.New(hide(failed.Err.Error()))
	}
	return shown
}
