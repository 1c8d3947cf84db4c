// Package access finds out who makes an HTTP request to gatehouse itself, and whether another site makes a browser send
// it. It knows requests and tokens only: no pages and, of the database, which logins have ended.
//
// With tokens (GATEHOUSE_TOKENS), a person is who has one of them. A program sends it as Authorization: Bearer. A
// browser gets a cookie for it, by Login: name, end and a random number, sealed with a key that is made from the
// signing key, the name and the token. So a login needs no row in the database, holds on each replica, and ends when
// its token is changed or its name removed. The cookie's name has a digest of the database's id, since a browser sends
// a host's cookies to each port of it. Logout deletes the cookie in the browser, ends the login's streams, and stores a
// digest of the cookie until its end, so that a copy does not hold on any replica.
//
// A browser has one login, and may have pages of another person, from before. So each request by a cookie says whom its
// page was made for (Gatehouse-As), and is refused if that is not who is logged in.
//
// Without tokens there is one person, the local one, and only true loopback is served: the connection comes from this
// machine, the Host is this machine's name for itself, and no header tells of a proxy or tunnel in between. The Host
// check is what stops DNS rebinding: a page of evil.example whose name suddenly means 127.0.0.1 still sends its own
// Host. The check of headers is for tunnels and proxies that were set up for a platform's webhooks: their connections
// come from this machine too. HTTP/1.0 is refused for the same reason: nginx speaks it to what is behind it, with its
// own Host and no header of a proxy, unless it is told otherwise. A proxy or tunnel that changes nothing in a request
// can't be noticed, so gatehouse serve warns if it has webhooks and no tokens.
//
// A browser adds cookies to whatever a page of another site sends, and any page can reach true loopback. SameSite
// refuses such requests, and forms have a hidden field beside it.
//
// A right token always passes at once, whoever else guesses at its holder's address. A wrong one is answered after a
// second. At most 20 of a peer address (that of a proxy, if there is one in between) and 200 in all wait for that;
// further ones are answered 429 at once. So guesses are few, and a flood of them holds 200 requests at most. That does
// not replace long random tokens.
//
// Metrics are for programs that are truly on loopback, and for those that have a token of their own
// (GATEHOUSE_METRICS_TOKEN): it is no person's, and opens nothing else.
package access
