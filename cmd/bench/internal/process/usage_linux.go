package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
		if err != nil && hasEnded(pid) {
			continue
		}
		if err != nil {
			return Usage{}, fmt.Errorf("reading what process %d uses: %w", pid, err)
		}
		all = all.Add(u)
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
	return pids, nil
}

func usageOfProcess(pid int) (u Usage, err error) {
	if u.CPU, err = cpuOf(pid); err != nil {
		return Usage{}, err
	}
	kilobytes, err := field(fmt.Sprintf("/proc/%d/status", pid), "VmHWM:")
	if err != nil {
		return Usage{}, err
	}
	u.Peak = kilobytes << 10
	if u.Written, err = field(fmt.Sprintf("/proc/%d/io", pid), "write_bytes:"); err != nil {
		return Usage{}, err
	}
	u.Switches, err = switchesOf(pid)
	return u, err
}

// heldBy reads what a process holds.
func heldBy(pid int) (h Held, err error) {
	status := fmt.Sprintf("/proc/%d/status", pid)
	kilobytes, err := field(status, "RssAnon:")
	if err != nil {
		return Held{}, err
	}
	threads, err := field(status, "Threads:")
	if err != nil {
		return Held{}, err
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return Held{Memory: kilobytes << 10, Files: len(files), Threads: int(threads)}, err
}

// hasEnded reports whether a process is gone, or a zombie.
func hasEnded(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return err != nil || strings.Contains(string(text), "\nState:\tZ") || strings.Contains(string(text), "\nState:\tX")
}

// switchesOf counts the context switches of all threads that run.
func switchesOf(pid int) (sum int64, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil {
		return 0, err
	}
	for _, file := range threads {
		for _, name := range []string{"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"} {
			n, err := field(file, name)
			if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
				continue // the thread has ended meanwhile
			} else if err != nil {
				return 0, err
			}
			sum += n
		}
	}
	return sum, nil
}

// cpuOf is the processor time of a process.
func cpuOf(pid int) (time.Duration, error) {
	var used unix.Timespec
	err := unix.ClockGettime(processClock(pid), &used)
	return time.Duration(used.Nano()), err
}

// processClock is the clock of the processor time of another process, as clock_getcpuclockid(3) makes it. Unlike
// /proc/PID/stat, whose unit is 10 ms, it is exact.
func processClock(pid int) int32 {
	const scheduler = 2 // CPUCLOCK_SCHED
	return int32(^pid<<3 | scheduler)
}

// field reads a number from a file in /proc.
func field(file, name string) (int64, error) {
	text, err := os.ReadFile(file)
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
