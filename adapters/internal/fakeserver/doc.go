// Package fakeserver is the shared part of the fake servers of the chat platforms. Each fake adds only its platform.
//
// A fake keeps everything in memory under one lock, which it shares with its [Host]. The Host runs the listeners and
// the goroutines, ends them in Close, and wakes waiters when something changes. [Server] is embedded in the fake. It
// records the calls of the API ([Record]), makes them fail on request of a test ([Fault]), hides new messages from
// reads ([Reads]) and serves a host that is not the platform ([Foreign]). Methods are for tests; operations that only
// the fake itself may use are functions of this package.
package fakeserver
