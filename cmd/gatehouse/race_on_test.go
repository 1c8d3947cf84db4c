//go:build race

package main

// underRace: the race detector runs, with which code takes more time and memory.
const underRace = true
