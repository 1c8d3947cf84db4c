// Package gateway is the gateway of the fake Discord: the websocket connections, the sessions with their identifies and resumes, and the
// events that they are sent. It knows nothing of guilds and messages; what it must know of them it asks by its [Config].
//
// Everything is kept under the lock of the fake. Methods of [Gateway] and [Connection] are for tests and take the lock; what only the
// fake itself may do is a function of this package, which the fake calls with the lock held.
package gateway
