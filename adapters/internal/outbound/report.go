package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// The states of a check.
const (
	OK   = core.CheckOK
	Warn = core.CheckWarn
	Fail = core.CheckFail
)

// Report collects the checks of a platform.
type Report struct {
	Platform  string // its name, as in ids: slack
	Title     string // its name for people: Slack
	URL       string // where its API is
	URLKey    string // the setting that holds URL
	StatusURL string // the page that reports outages
	Checks    []core.Check
}

// Add adds a check.
func (r *Report) Add(name string, state core.CheckState, what, mend string) {
	r.Checks = append(r.Checks, core.Check{Name: r.Platform + " " + name, State: state, What: what, Mend: mend})
}

// Unanswered reports whether a call failed, and adds a check with the reason. err has one of the categories of errors
// of calls. refusal is the platform's own reason if it refused the call, else ""; mend is how to fix that.
func (r *Report) Unanswered(name string, err error, refusal, mend string) bool {
	if err == nil {
		return false
	}
	again := fmt.Sprintf("Run gatehouse doctor again. If the problem remains, check %s, a proxy (HTTPS_PROXY), and %s.",
		r.StatusURL, r.URLKey)
	var late net.Error
	switch {
	case core.NoHandles(err) != "":
		r.Add(name, Fail, core.MessageOf(err), "Raise the limit of open files, and run gatehouse doctor again.")
	case core.RetryAfterOf(err) > 0:
		r.Add(name, Warn, r.Title+" limits the rate of requests now, so this could not be checked.",
			"Run gatehouse doctor again in a minute.")
	case core.CategoryOf(err) == core.DeliveryLater && !errors.As(err, &notOwn{}):
		r.Add(name, Fail, fmt.Sprintf("%s can't be reached at %s (%v).", r.Title, r.URL, cause(err)),
			fmt.Sprintf("Check whether this machine can reach it: the network, DNS, a proxy (HTTPS_PROXY), %s.",
				r.URLKey))
	case refusal != "":
		r.Add(name, Fail, fmt.Sprintf("%s refuses to answer: %s.", r.Title, refusal), mend)
	case errors.As(err, &late) && late.Timeout():
		r.Add(name, Fail, fmt.Sprintf("%s does not answer in time at %s.", r.Title, r.URL), again)
	default:
		r.Add(name, Fail,
			fmt.Sprintf("What answers at %s does not answer as %s does (%v).", r.URL, r.Title, cause(err)), again)
	}
	return true
}

// Unopened reports whether a websocket could not be opened (Socket.Dial), and adds a check with the reason.
func (r *Report) Unopened(name string, err error) bool {
	var f *SocketFault
	switch {
	case err == nil:
		return false
	case errors.As(err, &f):
		r.Add(name, Fail, f.What+" gatehouse serve receives no events then.", f.Mend)
	default:
		r.Unanswered(name, err, "", "")
	}
	return true
}

// cause returns the innermost error, without the address of the call and without the text around it.
func cause(err error) error {
	var ours *core.Error
	for errors.As(err, &ours) && ours.Err != nil {
		err = ours.Err
	}
	return WithoutURL(err)
}

// Approvers calls look for each of the approvers on this platform, and warns if there are none. examples are ids of the
// platform; where is a sentence about where to find ids.
func (r *Report) Approvers(
	ctx context.Context, ids []string, examples, where string, look func(ctx context.Context, id string),
) {
	here := 0
	for _, id := range ids {
		if strings.HasPrefix(id, r.Platform+":") {
			here++
			look(ctx, id)
		}
	}
	switch {
	case len(ids) == 0:
		r.Add("approvers", Warn, "No approvers are configured, so every change requested on "+r.Title+" is refused.",
			"Set GATEHOUSE_APPROVERS, such as "+examples+", or name approvers in the approval policy. "+where)
	case here == 0:
		r.Add("approvers", Warn, "None of the configured approvers is on "+r.Title+", so cards can't be decided there.",
			"Add ids of "+r.Title+" to GATEHOUSE_APPROVERS or to the approval policy, such as "+examples+". "+where)
	}
}

// Approver adds the check of one approver.
func (r *Report) Approver(id string, state core.CheckState, what, mend string) {
	r.Add("approver "+safetext.Name(id), state,
		fmt.Sprintf("%s, named as an approver, %s.", safetext.Name(id), what), mend)
}

// Count returns a number and a noun: one if n is 1, else many.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
