// Package fakeserver is what the fake servers of the chat platforms share, so that each of them holds only its platform.
//
// A fake keeps everything in memory under one lock, which it lends to its [Host]. The Host runs the listeners and the goroutines, ends
// them in Close, and wakes those who wait for a change. [Server] is embedded in the fake: it records the calls of the API ([Record]),
// makes them fail where a test asks for it ([Fault]), hides new messages from reads ([Reads]) and serves a host that is not the
// platform ([Foreign]). Methods are for tests; what only the fake itself may do is a function of this package.
package fakeserver
