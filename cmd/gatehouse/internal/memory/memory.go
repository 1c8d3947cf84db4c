// Package memory finds out how much memory the process may use: what the control groups (cgroups) allow that a
// container, a service manager or a scheduler has put it into.
package memory

import (
	"log/slog"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"gatehouse/core/inflight"
)

// Limit is the lowest limit of the process's control groups, of version 2 or 1; 0 if there is none.
func Limit() int64 { return limit("/proc/self/cgroup", "/sys/fs/cgroup") }

// unlimited is what version 1 says where there is no limit, or more: the largest number of pages.
const unlimited = 1 << 60

// limit reads which groups the process is in, each a line NUMBER:CONTROLLERS:PATH, and the limits of each and of those
// around it. Inside a container the path may be that outside; its own group is then the root that it sees.
func limit(groups, root string) (lowest int64) {
	lines, err := os.ReadFile(groups)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(lines)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		folder, file := root, "memory.max"
		switch {
		case fields[1] == "":
		case strings.Contains(","+fields[1]+",", ",memory,"):
			folder, file = path.Join(root, "memory"), "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			text, err := os.ReadFile(path.Join(folder, group, file))
			n, notANumber := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is none
			if err == nil && notANumber == nil && n < unlimited && (lowest == 0 || n < lowest) {
				lowest = n
			}
			if group == "/" {
				break
			}
		}
	}
	return lowest
}

// Half is the budget of a process that nobody has given one: half of its limit.
func Half() int64 {
	if n := Limit(); n > 0 {
		return n / 2
	}
	return inflight.Default
}

// runtimeLimit is the variable with which an operator sets the limit of Go's runtime.
const runtimeLimit = "GOMEMLIMIT"

// Restrain tells Go's runtime how much memory there is, so that it collects more often before that is used up: four
// fifths of the limit, since the program itself, the database and the kernel's buffers need some, too. Without a limit
// there is taken to be twice the budget, or as much as the default budget is half of; without either, nothing is done.
// GOMEMLIMIT goes first.
func Restrain(budgeted int64, log *slog.Logger) {
	most := Limit()
	if most == 0 && budgeted > 0 {
		most = 2 * max(budgeted, inflight.Default)
	}
	if os.Getenv(runtimeLimit) != "" || most == 0 {
		return
	}
	debug.SetMemoryLimit(most / 5 * 4)
	log.Debug("the runtime collects garbage more often near a limit of memory", "limit", most/5*4, "budget", budgeted)
}
