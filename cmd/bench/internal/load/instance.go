package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"gatehouse/cmd/bench/internal/process"
)

// start starts an instance, and waits until it is ready.
func (r *run) start(ctx context.Context, i int) error {
	instance := r.bot.Instances[i]
	p, err := process.Start(instance.Program, append(r.platform.Env(portOf(instance.URL)), instance.Env...),
		filepath.Join(r.dir, "log"+strconv.Itoa(i)))
	if err != nil {
		return err
	}
	r.running[i] = p
	for !r.ready(ctx, instance) {
		select {
		case <-ctx.Done():
			return r.told(p, fmt.Errorf("it is not ready: %w", ctx.Err()))
		case <-p.Done():
			return r.told(p, errEnded)
		case <-time.After(readyPause):
		}
	}
	return nil
}

// readyPause is how often is asked whether an instance is ready.
const readyPause = 2 * time.Millisecond

var errEnded = errors.New("it has ended")

// watched is a context that ends when an instance does, with that as its cause.
func (r *run) watched(ctx context.Context) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	for _, p := range r.running {
		go func() {
			select {
			case <-p.Done():
				cancel(r.told(p, errEnded))
			case <-watched.Done():
			}
		}()
	}
	return watched, func() { cancel(nil) }
}

// told adds to an error what the bot printed.
func (r *run) told(p *process.Process, err error) error {
	return fmt.Errorf("%w\nThe end of what %s printed:\n%s", err, r.bot.Name, p.Tail())
}

func portOf(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return at.Port()
}

func (r *run) ready(ctx context.Context, i Instance) bool {
	address := cmp.Or(i.Ready, i.URL)
	if address == "" {
		return r.platform.Ready()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return (i.Ready == "" || response.StatusCode == http.StatusOK) && r.platform.Ready()
}

// kill ends all instances that still run.
func (r *run) kill() {
	for _, p := range r.running {
		if p != nil {
			p.Kill()
		}
	}
}

// restart kills the first instance and starts it again.
func (r *run) restart(ctx context.Context) error {
	used, err := r.running[0].Usage()
	if err != nil {
		return err
	}
	r.running[0].Kill()
	used.Peak = 0 // that of its successor counts
	r.before = r.before.Add(used)
	return r.start(ctx, 0)
}
