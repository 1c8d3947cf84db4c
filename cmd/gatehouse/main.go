// Command gatehouse is a gateway between chat platforms and an agent: run it with serve, talk to it with chat, look after it with
// the other commands. This package is the only one that imports everything; it wires, reads the configuration and prints.
//
// Exit codes: 0 done, 1 the thing asked about is bad, 2 usage or configuration, 3 not found.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
