package interp

import (
	"strings"

	"gatehouse/core/hrf"
)

// spend counts one use of a limit: steps, tool_calls or model_calls.
func (r *run) spend(name string, used *int, allowed int, p hrf.Place) Effect {
	if *used >= allowed {
		return r.exceeded(name, allowed, p, "the run takes more than %d %s", allowed,
			strings.ReplaceAll(name, "_", " "))
	}
	*used++
	return nil
}

// fits checks a size in bytes.
func (r *run) fits(size int, what string, p hrf.Place) Effect {
	if size <= r.limits.Size {
		return nil
	}
	return r.tooLarge(what, p)
}

func (r *run) tooLarge(what string, p hrf.Place) Effect {
	return r.exceeded("size", r.limits.Size, p, "%s would be larger than %d bytes", what, r.limits.Size)
}

func (r *run) exceeded(limit string, allowed int, p hrf.Place, format string, args ...any) Effect {
	d := at(p)
	d.Limit, d.Allowed = limit, allowed
	return r.fail(d, format, args...)
}
