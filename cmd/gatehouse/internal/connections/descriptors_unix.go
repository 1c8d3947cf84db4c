//go:build unix

package connections

import "syscall"

// Files is how many files and connections the process may have open; 0: unknown, or without limit.
func Files() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || uint64(limit.Cur) > 1<<30 {
		return 0
	}
	return int(limit.Cur)
}
