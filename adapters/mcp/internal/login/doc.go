// Package login logs gatehouse in to remote MCP servers by OAuth 2.1, and gives the token to each request.
//
// A login is a Record. It is stored under mcp.login/SERVER, encrypted by AES-GCM under a key that is derived from the
// secret key; a person makes it with gatehouse mcp login SERVER, which is Run. It is for one URL: when the entry's URL
// changes, nobody gets the token until a person logs in again.
//
// Run finds the authorization server by the server's protected resource metadata (RFC 9728), or asks at the server's
// own origin, as older servers have it; reads its metadata (RFC 8414 or OpenID Connect), which must name the same
// issuer and PKCE with S256; registers a client there (RFC 7591) if the entry has none; sends the person there, with
// state and resource (RFC 8707); and checks state and iss (RFC 9207) of what comes back. All these addresses are https,
// or loopback. No redirect to another origin is followed. A token that the server refuses is not stored.
//
// A Source reads the login from the store for each request, so that a new one counts at once, and the same one in all
// processes. A token that ends within half a minute, or that the server refuses, is renewed. The lease mcp.login/SERVER
// lets one process write the login at a time, and whoever holds it reads the login again first: a refresh token is used
// once. A process that is killed between the answer of the authorization server and the commit loses the login; a
// person logs in again. When the authorization server says that the refresh token is void, the tokens are dropped and
// the reason is stored. Any other failure changes nothing, and the next request tries again.
package login
