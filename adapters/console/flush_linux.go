package console

import "golang.org/x/sys/unix"

// flushInput discards what was typed at a terminal and not read.
func flushInput(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
