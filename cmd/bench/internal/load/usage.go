package load

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"gatehouse/cmd/bench/internal/process"
)

// profile starts perf, if the plan has a file for it; stop ends it, and may be called several times.
func (r *run) profile() (stop func(), err error) {
	if r.plan.Profile == "" {
		return func() {}, nil
	}
	pid := strconv.Itoa(r.running[0].PID())
	perf, err := process.Start([]string{"perf", "record", "-q", "-F", "499", "-g", "-p", pid, "-o", r.plan.Profile},
		nil, filepath.Join(r.dir, "perf"))
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	return sync.OnceFunc(func() { perf.End(syscall.SIGINT) }), nil
}

// watch measures the bot for a time in which no events are sent.
func (r *run) watch(ctx context.Context, length time.Duration) (time.Duration, error) {
	if length == 0 {
		return 0, nil
	}
	begin, err := r.usage()
	if err != nil {
		return 0, err
	}
	if err := pause(ctx, length); err != nil {
		return 0, err
	}
	end, err := r.usage()
	return end.CPU - begin.CPU, err
}

func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-time.After(length):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// usage is what was used until a moment.
type usage struct {
	process.Usage
	server, driver time.Duration
	stored         int64
}

func (r *run) usage() (u usage, err error) {
	u.Usage = r.before
	for _, p := range r.running {
		used, err := p.Usage()
		if err != nil {
			return usage{}, r.told(p, err)
		}
		u.Usage = u.Add(used)
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return usage{}, err
	}
	u.driver = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	if r.bot.Stored != nil {
		if u.stored, err = r.bot.Stored(); err != nil {
			return usage{}, err
		}
	}
	if r.bot.Server != nil {
		u.server, err = r.bot.Server()
	}
	return u, err
}
