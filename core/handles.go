package core

import (
	"errors"
	"syscall"
)

// NoHandles says that an error comes from a lack of file handles, before what it says itself; "" if it does not.
// Whatever needs a file or a connection fails then, and what failed is not at fault.
func NoHandles(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return "gatehouse has no file handles left: it has as many files and connections open as it may. Raise the " +
			"limit to 1024 or more (ulimit -n, LimitNOFILE of systemd, --ulimit nofile of Docker), and start " +
			"gatehouse again. What failed for it: "
	case errors.Is(err, syscall.ENFILE):
		return "The system has no file handles left. Close other programs, or raise fs.file-max. What failed for it: "
	}
	return ""
}
