package policy

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
)

// maxQuorum bounds quorums that nobody can check, those of platforms' groups.
const maxQuorum = 1000

// who reads who decides.
func (r *reader) who(one *rule, has map[string]*yaml.Node, in *roster, defaults Defaults) {
	if v := has["approvers"]; v != nil {
		one.then.Approvers = r.ids(in, r.members(v, "approvers", in), nil)
	} else {
		one.then.Approvers = defaults.Approvers
		one.local = len(defaults.Approvers) == 0
	}
	if v := has["quorum"]; v != nil {
		if n, ok := r.count(v, "quorum"); ok {
			one.then.Quorum = n
		}
	}
	if v := has["vetoes"]; v != nil {
		if n, ok := r.count(v, "vetoes"); ok {
			one.then.Vetoes = n
		}
	}
	if v := has["self"]; v != nil {
		one.then.Self = r.Bool(v, "self")
		one.self = selfSetting{true, one.then.Self}
	}
}

// times reads when it ends, and what happens before.
func (r *reader) times(one *rule, has map[string]*yaml.Node, in *roster) {
	if v := has["expires"]; v != nil {
		if v.Kind == yaml.ScalarNode && v.Value == never {
			one.then.Timeout, one.expires = 0, never
		} else if d, ok := r.duration(v, "expires", "24h, 7d or never"); ok {
			one.then.Timeout, one.expires = d, v.Value
		}
	}
	before := func(d time.Duration, n *yaml.Node, key string) {
		if one.then.Timeout > 0 && d >= one.then.Timeout {
			r.Fault(n, "use a shorter time, or a longer expires", "%s is %s, but the request expires after %s", key,
				Written(d), one.expires)
		}
	}
	if v := has["remind"]; v != nil {
		for _, item := range r.List(v, "remind", "[1h, 6h]") {
			if d, ok := r.duration(item, "remind", "1h"); ok {
				before(d, item, "remind")
				one.then.Remind = append(one.then.Remind, d)
			}
		}
		slices.Sort(one.then.Remind)
		one.then.Remind = slices.Compact(one.then.Remind)
	}
	if v := has["remember"]; v != nil {
		r.remember(one, v)
	}
	if v := has["escalate"]; v != nil {
		parts := r.part(v, "escalate", "{after: 4h, to: [group:leads]}", "after", "to")
		if after := parts["after"]; after != nil {
			if d, ok := r.duration(after, "after", "4h"); ok {
				before(d, after, "escalate after")
				one.then.Escalate.After = d
			}
		}
		if to := parts["to"]; to != nil {
			one.then.Escalate.To = r.ids(in, r.members(to, "to", in), nil)
		}
	}
	if v := has["hours"]; v != nil {
		if one.then.Hours = r.hours(v); has["remind"] == nil && has["escalate"] == nil {
			r.Fault(v, "add remind or escalate, or remove it",
				"hours moves reminders and the escalation, and there are none")
		}
	}
}

// part reads a mapping in which no key may be missing.
func (r *reader) part(n *yaml.Node, what, example string, keys ...string) map[string]*yaml.Node {
	parts := r.Values(n, what, keys...)
	for _, key := range keys {
		if n.Kind == yaml.MappingNode && parts[key] == nil && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool {
			return c.Value == key
		}) {
			r.Fault(n, "write it like "+what+": "+example, "%s has no %s", what, key)
		}
	}
	return parts
}

// manner reads how it is asked and answered.
func (r *reader) manner(one *rule, has map[string]*yaml.Node) {
	if v := has["notify"]; v != nil {
		r.notify(one, v)
	}
	if v := has["reason"]; v != nil {
		reason, _ := r.Word(v, "reason", reasons)
		one.then.Reason = reason == "required"
	}
	if v := has["edit"]; v != nil {
		one.then.Edit = r.Bool(v, "edit")
	}
	if v := has["batch"]; v != nil {
		one.then.Batch = r.Bool(v, "batch")
	}
}

// notify reads one place, or a list of them. One that is here alone is the same as none.
func (r *reader) notify(one *rule, v *yaml.Node) {
	items := []*yaml.Node{v}
	if v.Kind != yaml.ScalarNode {
		items = r.List(v, "notify", "[here, dm]")
	}
	for _, item := range items {
		place, ok := r.Text(item, "notify", "here")
		if !ok {
			continue
		}
		if what, do := checkChannel(r.known, place); what != "" {
			r.Fault(item, do, "%s", what)
		} else if !slices.Contains(one.then.Notify, place) {
			one.then.Notify = append(one.then.Notify, place)
		}
	}
	if slices.Equal(one.then.Notify, []string{core.NotifyHere}) {
		one.then.Notify = nil
	}
}

// reachable checks that there are as many people as the quorum and the vetoes need, those of an escalation among them.
func (r *reader) reachable(one *rule, n *yaml.Node, has map[string]*yaml.Node, in *roster) {
	people, known := in.count(one.then.Groups())
	for _, need := range []struct {
		key    string
		people int
	}{{"quorum", one.then.Quorum}, {"vetoes", one.then.Vetoes}} {
		at := cmp.Or(has[need.key], has["approvers"], n)
		switch {
		case need.people > maxQuorum:
			r.Fault(at, "use "+strconv.Itoa(maxQuorum)+" at most", "%s: %d is too high", need.key, need.people)
		case known && !one.local && people < need.people:
			r.Fault(at, "lower the "+need.key+", or name more approvers",
				"nobody can reach the %s of %d: the approvers are %s", need.key, need.people, counted(people))
		}
	}
}

func counted(people int) string {
	if people == 1 {
		return "1 person"
	}
	return strconv.Itoa(people) + " people"
}

// remember reads for how long, and for how many further calls, an approval is remembered. What the file does not say
// stays unset, and has its default where the rule is read: so the digests of stored rules stay what they are.
func (r *reader) remember(one *rule, n *yaml.Node) {
	parts := r.Values(n, "remember", "for", "uses", "destructive")
	if n.Kind != yaml.MappingNode {
		return
	}
	if parts["for"] == nil {
		r.Fault(n, "write it like remember: {for: 1h, uses: 5}", "remember has no for")
	} else {
		one.then.Remember, _ = r.duration(parts["for"], "for", "1h")
	}
	if v := parts["uses"]; v != nil {
		if uses, ok := r.count(v, "uses"); ok {
			one.then.RememberUses = uses
		}
	}
	if v := parts["destructive"]; v != nil {
		one.then.RememberDangerous = r.Bool(v, "destructive")
	}
}
