// Package check holds the tests of the files beside it that say how gatehouse is run: each is read as the tool reads it
// that it is for. It is a module of its own, so that nothing of these tools is among what gatehouse is built from.
package check
