//go:build !linux

package console

import "golang.org/x/sys/unix"

// flushInput discards what was typed at a terminal and not read.
func flushInput(fd int) error { return unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, unix.TCIFLUSH) }
