// Package gateway is the gateway of the fake Discord: the websocket connections, the sessions with their identifies and
// resumes, and the events that are sent to them. It does not depend on guilds and messages; [Config] has functions for
// what it needs of them.
//
// Everything is kept under the lock of the fake. Methods of [Gateway] and [Connection] are for tests and take the lock.
// Operations of the fake itself are functions of this package, which the fake calls with the lock held.
package gateway
