package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// usageOf adds what all processes of a group use.
func usageOf(group int) (Usage, error) {
	pids, err := membersOf(group)
	if err != nil {
		return Usage{}, err
	}
	var all Usage
	for _, pid := range pids {
		u, err := usageOfProcess(pid)
		if err != nil {
			return Usage{}, fmt.Errorf("reading what process %d uses: %w", pid, err)
		}
		all.CPU, all.Peak, all.Written = all.CPU+u.CPU, all.Peak+u.Peak, all.Written+u.Written
	}
	return all, nil
}

// membersOf returns the processes of a group.
func membersOf(group int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if its, err := unix.Getpgid(pid); err == nil && its == group {
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		return nil, fmt.Errorf("the process %d has ended", group)
	}
	return pids, nil
}

func usageOfProcess(pid int) (u Usage, err error) {
	var used unix.Timespec
	if err := unix.ClockGettime(processClock(pid), &used); err != nil {
		return Usage{}, err
	}
	u.CPU = time.Duration(used.Nano())
	kilobytes, err := field(pid, "status", "VmHWM:")
	if err != nil {
		return Usage{}, err
	}
	u.Peak = kilobytes << 10
	u.Written, err = field(pid, "io", "write_bytes:")
	return u, err
}

// processClock is the clock of the processor time of another process, as clock_getcpuclockid(3) makes it. Unlike /proc/PID/stat, whose unit is
// 10 ms, it is exact.
func processClock(pid int) int32 {
	const scheduler = 2 // CPUCLOCK_SCHED
	return int32(^pid<<3 | scheduler)
}

// field reads a number from a file of a process in /proc.
func field(pid int, file, name string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", file, name)
}
