package policy

import "gopkg.in/yaml.v3"

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
