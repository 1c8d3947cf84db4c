package login

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"gatehouse/core"
	"gatehouse/core/mask"
)

// probe is no message, so that a server begins nothing for it; it asks for the login first.
const probe = `{}`

// ask sends the probe to the server, with a token if there is one. It gives the status and the challenge of the answer.
func (f *flow) ask(ctx context.Context, token string) (status int, wants map[string]string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.server.URL, strings.NewReader(probe))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range f.server.Headers {
		req.Header.Set(name, value)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := *f.client
	// the entry's headers are for one address
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil,
			core.Wrap(core.Invalid, err, "The MCP server %s can't be reached. Check its URL in mcp.json.",
				f.server.Name)
	}
	_ = resp.Body.Close()
	return resp.StatusCode, challenge(resp), nil
}

// target is where to log in.
type target struct {
	resource string
	scopes   []string
	meta     *oauthex.AuthServerMeta
}

// discover finds the server's authorization server.
func (f *flow) discover(ctx context.Context) (to target, err error) {
	_, wants, err := f.ask(ctx, "")
	if err != nil {
		return to, err
	}
	resource, err := f.resource(ctx, wants["resource_metadata"])
	if err != nil {
		return to, core.Wrap(core.Invalid, err, "What the MCP server %s says about its login can't be used. Ask "+
			"whoever runs it.", f.server.Name)
	}
	to.resource, to.scopes = resource.Resource, resource.ScopesSupported
	if scope := wants["scope"]; scope != "" {
		to.scopes = strings.Fields(scope)
	}
	issuer := resource.AuthorizationServers[0]
	to.meta, err = auth.GetAuthServerMetadata(ctx, issuer, f.client)
	switch {
	case err != nil:
		return to, core.Wrap(core.Invalid, err, "The metadata of the authorization server %s can't be used. Ask "+
			"whoever runs it.", issuer)
	case to.meta == nil:
		return to, core.Errorf(core.Invalid,
			"The MCP server %s offers no login: there is no OAuth metadata for it, and none of an authorization "+
				"server at %s. "+
				`If it wants a token, write it into "headers" of its entry in mcp.json, as "Authorization".`,
			f.server.Name, issuer)
	case to.meta.AuthorizationEndpoint == "" || to.meta.TokenEndpoint == "":
		return to, core.Errorf(core.Invalid,
			"The metadata of the authorization server %s name no authorization_endpoint or no token_endpoint. Ask "+
				"whoever runs it.", issuer)
	case mask.EscapeLine(to.meta.AuthorizationEndpoint) != to.meta.AuthorizationEndpoint:
		return to, core.Errorf(core.Invalid,
			"The authorization server %s names an authorization_endpoint with characters that can't be seen. Ask "+
				"whoever runs it.", issuer)
	case !slices.Contains(to.meta.CodeChallengeMethodsSupported, "S256"):
		return to, core.Errorf(core.Invalid,
			"The authorization server %s has no PKCE with S256, without which a login could be stolen. Ask whoever "+
				"runs it.", issuer)
	}
	if len(f.server.Client.Scopes) > 0 {
		to.scopes = f.server.Client.Scopes
	} else if slices.Contains(to.meta.ScopesSupported, offline) && !slices.Contains(to.scopes, offline) {
		to.scopes = append(slices.Clone(to.scopes), offline)
	}
	return to, nil
}

// offline is the scope that asks for a refresh token.
const offline = "offline_access"

// resource gives the server's metadata. A server that names where they are must have them there; one without any has
// its authorization server at its own origin.
func (f *flow) resource(ctx context.Context, named string) (*oauthex.ProtectedResourceMetadata, error) {
	u, err := url.Parse(f.server.URL)
	if err != nil {
		return nil, err
	}
	origin := originOf(f.server.URL)
	wellKnown := origin + "/.well-known/oauth-protected-resource"
	places := []string{wellKnown + strings.TrimSuffix(u.EscapedPath(), "/"), wellKnown}
	if named != "" {
		places = []string{named}
	}
	for _, place := range slices.Compact(places) {
		var found *oauthex.ProtectedResourceMetadata
		// a server may call itself by its origin alone
		for _, name := range []string{origin, origin + "/", f.server.URL} {
			if found, err = oauthex.GetProtectedResourceMetadata(ctx, place, name, f.client); err == nil {
				break
			}
		}
		switch {
		case err != nil && named != "":
			return nil, err
		case err != nil:
		case len(found.AuthorizationServers) == 0:
			return nil, fmt.Errorf("its metadata at %s name no authorization server", place)
		default:
			return found, nil
		}
	}
	return &oauthex.ProtectedResourceMetadata{Resource: f.server.URL, AuthorizationServers: []string{origin}}, nil
}

// drain lets a connection go.
func drain(resp *http.Response) {
	_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	_ = resp.Body.Close()
}

const maxDrain = 64 << 10
