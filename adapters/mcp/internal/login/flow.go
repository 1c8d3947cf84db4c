package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"gatehouse/core"
)

// patience is how long a person may take.
const patience = 5 * time.Minute

// flow is one login by a person.
type flow struct {
	server Server
	client *http.Client
	out    io.Writer
	paste  io.Reader // nil: the browser comes back by itself
}

// Run logs in to a server and stores the login. It writes to out what the person has to do; paste is where the person
// writes the address that the browser ended at, nil if the browser can reach this machine's loopback. Nothing is stored
// when it fails.
func Run(ctx context.Context, server Server, store Store, out io.Writer, paste io.Reader) (Record, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	f := &flow{server: server, client: newClient(), out: out, paste: paste}
	r, err := f.login(context.WithValue(ctx, oauth2.HTTPClient, f.client))
	if err == nil {
		err = hold(ctx, store, server.Name, rand.Text(), func() error {
			_, err := save(ctx, store, server.Name, r)
			return err
		})
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Record{}, core.Errorf(core.Stopped, "Nobody logged in within %s, and nothing was stored. Run the "+
			"command again.", patience)
	case ctx.Err() != nil:
		return Record{}, core.Errorf(core.Stopped, "The login was interrupted, and nothing was stored.")
	}
	return r, err
}

func (f *flow) login(ctx context.Context) (Record, error) {
	to, err := f.discover(ctx)
	if err != nil {
		return Record{}, err
	}
	back, err := f.listen()
	if err != nil {
		return Record{}, err
	}
	defer back.close()
	cfg, err := f.register(ctx, to, back.address)
	if err != nil {
		return Record{}, err
	}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	resource := oauth2.SetAuthURLParam("resource", to.resource)
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(verifier), resource}
	if slices.Contains(to.scopes, offline) {
		// OpenID Connect gives a refresh token to nobody else
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	fmt.Fprintf(f.out, "Open this address in a browser and log in there:\n\n  %s\n\n",
		cfg.AuthCodeURL(state, options...))
	answer, err := back.wait(ctx, state)
	if err != nil {
		return Record{}, err
	}
	code, err := codeOf(answer, to.meta)
	if err != nil {
		return Record{}, err
	}
	token, err := cfg.Exchange(ctx, code, oauth2.VerifierOption(verifier), resource)
	switch {
	case err != nil:
		return Record{}, core.Wrap(core.Invalid, tokenError(err), "The authorization server %s gave no token. Run "+
			"the command again.", to.meta.Issuer)
	case token.Type() != "Bearer":
		return Record{}, core.Errorf(core.Unsupported, "The authorization server %s gave a token of type %q; "+
			"gatehouse knows Bearer only.",
			to.meta.Issuer, token.Type())
	}
	status, wants, err := f.ask(ctx, token.AccessToken)
	switch {
	case err != nil:
		return Record{}, err
	case status == http.StatusUnauthorized:
		return Record{}, core.Errorf(core.Unauthorized, "The MCP server %s refuses the token that its authorization "+
			"server gave%s. Nothing was stored.",
			f.server.Name, detail(wants["error"], wants["error_description"]))
	}
	r := Record{
		URL: f.server.URL, Resource: to.resource, TokenURL: cfg.Endpoint.TokenURL, ClientID: cfg.ClientID,
		Token: *token,
	}
	r.Style = cfg.Endpoint.AuthStyle
	if f.server.Client.ID == "" {
		r.ClientSecret = cfg.ClientSecret
	}
	return r, nil
}

// register gives the client to log in with: the entry's, or a new one.
func (f *flow) register(ctx context.Context, to target, redirect string) (*oauth2.Config, error) {
	cfg := &oauth2.Config{
		ClientID: f.server.Client.ID, ClientSecret: f.server.Client.Secret, RedirectURL: redirect, Scopes: to.scopes,
		Endpoint: oauth2.Endpoint{AuthURL: to.meta.AuthorizationEndpoint, TokenURL: to.meta.TokenEndpoint},
	}
	method := "client_secret_basic"
	if methods := to.meta.TokenEndpointAuthMethodsSupported; len(methods) > 0 && !slices.Contains(methods, method) {
		method = "client_secret_post"
	}
	switch {
	case cfg.ClientID != "":
	case to.meta.RegistrationEndpoint == "":
		return nil,
			core.Errorf(core.Invalid,
				`The authorization server %s registers no clients by itself. Register one there by hand, `+
					`with the redirect address http://127.0.0.1/callback (of any port), and write its `+
					`"client_id" into "oauth" of the entry %s in mcp.json.`,
				to.meta.Issuer, f.server.Name)
	default:
		made, err := oauthex.RegisterClient(ctx, to.meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{redirect}, ApplicationType: "native", ClientName: "gatehouse",
			TokenEndpointAuthMethod: "none",
			GrantTypes:              []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}, f.client)
		if err != nil {
			return nil,
				core.Wrap(core.Invalid, err,
					`The authorization server %s registers no client for gatehouse. Register one there by hand, `+
						`and write its "client_id" into "oauth" of the entry %s in mcp.json.`, to.meta.Issuer,
					f.server.Name)
		}
		cfg.ClientID, cfg.ClientSecret = made.ClientID, made.ClientSecret
		if made.TokenEndpointAuthMethod != "" {
			method = made.TokenEndpointAuthMethod
		}
	}
	cfg.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	if cfg.ClientSecret != "" && method == "client_secret_basic" {
		cfg.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	}
	return cfg, nil
}
