package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
)

// grace is how long a tool has to return after its time is up. One that does not is left behind: its goroutine goes on until Do returns,
// and what it returns is dropped.
const grace = 5 * time.Second

// returned is what Do has returned.
type returned struct {
	content string
	err     error
}

// panicked is the error of a Do that did not return.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprint(p.value) }

// run calls Do within the tool's limits. Every error has a message for the model, or stands for a failure of which the model is told nothing.
func (t Tool) run(ctx context.Context, key string, args json.RawMessage) (string, error) {
	limit := cmp.Or(t.Timeout, DefaultTimeout)
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan returned, 1)
	go func() {
		r := returned{err: panicked{"Do did not return"}} // as after runtime.Goexit
		defer func() {
			if p := recover(); p != nil {
				r.err = panicked{p}
			}
			done <- r
		}()
		r.content, r.err = t.Do(within, key, args)
	}()
	late := time.NewTimer(limit + grace)
	defer late.Stop()
	select {
	case r := <-done:
		return t.judge(ctx, within, r)
	case <-late.C:
		return "", core.Errorf(core.ToolFailed, "%s did not finish within %s, and may still be running.%s", t.Name, limit, t.inDoubt())
	}
}

// judge turns what Do has returned into a result within the limits.
func (t Tool) judge(ctx, within context.Context, r returned) (string, error) {
	most, said := cmp.Or(t.MaxOutput, DefaultMaxOutput), core.MessageOf(r.err)
	switch {
	case r.err == nil && len(r.content) > most:
		return "", core.Errorf(core.ToolFailed, "%s ran to its end, but its result has more than %d bytes, so it is not shown. Ask it for less.", t.Name, most)
	case r.err == nil:
		return own(storable(r.content)), nil
	case said != "" && len(said) > most:
		return "", core.Errorf(core.CategoryOf(r.err), "%s… (cut)", storable(said[:most]))
	case said != "":
		return "", r.err
	case ctx.Err() == nil && within.Err() != nil:
		return "", core.Wrap(core.ToolFailed, r.err, "%s was stopped, because it did not finish within %s.%s", t.Name, cmp.Or(t.Timeout, DefaultTimeout), t.inDoubt())
	case errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded):
		return "", core.Wrap(core.ToolFailed, r.err, "%s was stopped before it finished.%s", t.Name, t.inDoubt())
	}
	return "", r.err
}

// inDoubt is the sentence about a call that was stopped.
func (t Tool) inDoubt() string {
	if t.Mutating {
		return " Whether it took effect is not known. Please check."
	}
	return ""
}

// storable replaces what is no text: a database and a vendor's API refuse it.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}
