// Package storagetest states the contract of *sqlstore.Store as tests that every engine runs.
//
//	Run         named examples, one for each sentence of the contract
//	Property    random histories of several workers, compared with a model in memory after each step
//	Failpoints  a wrapper that calls out before and after every method, for killing a real process there
//
// An engine gives a Database for each test: an empty one, which can be opened several times at once (the views of several
// processes), closed and opened again (a crash between two calls), and whose clock can be moved on. Nothing here sleeps: a lease
// of zero is over at once, and whatever else has to pass is passed by Advance.
package storagetest
