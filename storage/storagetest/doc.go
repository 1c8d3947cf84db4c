// Package storagetest states the contract of *sqlstore.Store as tests that every engine runs.
//
//	Run         named examples, one for each rule of the contract
//	Property    random histories of several workers, compared with a model in memory after each step
//	Failpoints  a wrapper that calls a hook before and after every method, for killing a real process there
//
// An engine provides an empty Database for each test. It can be opened several times at once (as several processes do), closed and opened
// again (as after a crash between two calls), and its clock can be advanced. Nothing sleeps: a lease of zero is over at once, and Advance
// passes any other time.
package storagetest
