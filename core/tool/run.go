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
	"gatehouse/core/typestate"
)

// grace is how long a tool has to return after its time is up. One that does not is left behind: its goroutine goes on
// until Do returns, and what it returns is dropped.
const grace = 5 * time.Second

// returned is what Do has returned.
type returned struct {
	content string
	err     error

	whole, shown string // the digest of what Do has cut, and the cut; see NoteCut
	foreign      bool   // the cut is not of that text

	images []core.Block // see Image
}

type returnedKey struct{}

// panicked is the error of a Do that did not return.
type panicked struct{ value any }

func (p panicked) Error() string { return fmt.Sprint(p.value) }

// NoteCut records that a Do returns the beginning of a longer text, whole, and a note that says so: then the evidence
// has the digests of both, and the cut is judged: it is not valid where kept is not how whole begins, or Do returns
// another text. It returns kept with the note. The last call counts; outside a Do that an Executor runs, nothing is
// recorded.
func NoteCut(ctx context.Context, whole, kept, note string) string {
	if r, ok := ctx.Value(returnedKey{}).(*returned); ok {
		r.whole, r.shown, r.foreign = typestate.Digest(whole), kept+note, !strings.HasPrefix(whole, kept)
	}
	return kept + note
}

// run calls Do within the tool's limits. Every error has a message for the model, or stands for a failure of which the
// model is told nothing; the result then has what Do gave beside its error, or only the digest of what was cut.
func (t Tool) run(ctx context.Context, key string, args json.RawMessage) (core.ToolResult, error) {
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
		r.content, r.err = t.Do(context.WithValue(within, returnedKey{}, &r), key, args)
	}()
	late := time.NewTimer(limit + grace)
	defer late.Stop()
	select {
	case r := <-done:
		return t.judge(ctx, within, r)
	case <-late.C:
		category, doubt := t.inDoubt()
		return core.ToolResult{}, core.Errorf(
			category, "%s did not finish within %s, and may still be running.%s", t.Name, limit, doubt)
	}
}

// judge turns what Do has returned into a result within the limits.
func (t Tool) judge(ctx, within context.Context, r returned) (result core.ToolResult, err error) {
	most, said := cmp.Or(t.MaxOutput, DefaultMaxOutput), core.MessageOf(r.err)
	stopped, doubt := t.inDoubt()
	switch {
	case len(r.content) > most:
		result.Whole = typestate.Digest(r.content)
	case r.err == nil || r.content != "":
		result = core.ToolResult{Content: storable(r.content), Whole: r.whole}
		result.Miscut = r.whole != "" && (r.foreign || r.shown != r.content)
	}
	switch {
	case r.err == nil && len(r.content) > most:
		return result, core.Errorf(core.ToolFailed, "%s ran to its end, but its result has more than %d bytes, so it "+
			"is not shown. Ask it for less.", t.Name, most)
	case r.err == nil:
		result.Content, result.Images = own(core.Result("", result.Content).Content.String()), r.images
		return result, nil
	case said != "" && len(said) > most:
		result = core.ToolResult{Whole: typestate.Digest(said)}
		return result, core.Errorf(core.CategoryOf(r.err), "%s… (cut)", storable(said[:most]))
	case said != "":
		return result, r.err
	case ctx.Err() == nil && within.Err() != nil:
		limit := cmp.Or(t.Timeout, DefaultTimeout)
		return result, core.Wrap(
			stopped, r.err, "%s was stopped, because it did not finish within %s.%s", t.Name, limit, doubt)
	case errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded):
		return result, core.Wrap(stopped, r.err, "%s was stopped before it finished.%s", t.Name, doubt)
	}
	return result, r.err
}

// inDoubt is the category of a call that was stopped, and the sentence about it.
func (t Tool) inDoubt() (core.Category, string) {
	if t.Mutating {
		return core.OutcomeUnknown, " Whether it took effect is not known. Please check."
	}
	return core.ToolFailed, ""
}

// storable replaces what is no text: a database and a vendor's API refuse it.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}
