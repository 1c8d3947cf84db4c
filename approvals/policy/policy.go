package policy

import (
	"slices"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
)

// Policy decides about calls. It does not change, and any number of goroutines may use it.
type Policy struct {
	defaults Defaults
	roster   roster
	rules    []*rule
}

// New is the policy without a file.
func New(defaults Defaults) *Policy { return &Policy{defaults: defaults} }

// Load reads a policy from a file. The error is of type Faults and names all that is wrong.
func Load(path string, defaults Defaults) (*Policy, error) {
	r := &reader{file: path}
	data, ok := r.readFile(path)
	if !ok {
		return nil, r.faults
	}
	return Parse(path, data, defaults)
}

// Parse reads a policy from the text of a file; name is the file's name in errors. The error is of type Faults and names all that is wrong;
// then there is no policy.
func Parse(name string, data []byte, defaults Defaults) (*Policy, error) {
	r := &reader{file: name}
	p := &Policy{defaults: defaults, roster: roster{accounts: map[string][]string{}, people: map[string]string{}, groups: map[string]*group{}}}
	if root := r.parse(data); root != nil {
		r.policy(root, p)
	}
	if len(r.faults) > 0 {
		return nil, r.faults.sorted()
	}
	return p, nil
}

// version is the one version of the format.
const version = "1"

func (r *reader) policy(root *yaml.Node, p *Policy) {
	sections := map[string]*yaml.Node{}
	for _, e := range r.entries(root, "the policy", []string{"version", "people", "groups", "rules"}) {
		if sections[e.key] = e.value; e.key != "version" && e.value.Tag == "!!null" {
			delete(sections, e.key) // a section that is not written yet
		}
	}
	if root.Kind != yaml.MappingNode {
		return
	}
	if v := sections["version"]; v == nil {
		r.fault(root.Line, "add version: 1", "the version is missing")
	} else if v.Kind != yaml.ScalarNode || v.Tag != "!!int" || v.Value != version {
		r.fault(v.Line, "write version: 1", "unknown version %s", valueOfNode(v))
	}
	before := len(r.faults)
	if v := sections["people"]; v != nil {
		r.people(v, &p.roster)
	}
	if v := sections["groups"]; v != nil {
		r.groups(v, &p.roster)
	}
	p.roster.broken = len(r.faults) > before
	if v := sections["rules"]; v != nil {
		p.rules = r.rules(v, &p.roster, p.defaults)
	}
}

// Approvers are all who may approve something: those of all rules, of their escalations, and of the defaults, sorted and each once.
func (p *Policy) Approvers() []string {
	all := slices.Clone(p.defaults.Approvers)
	for _, r := range p.rules {
		if r.then.Verdict == core.VerdictAsk {
			all = append(all, r.then.Groups()...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// RequesterGroups are, for each account of the person who asks, the groups and roles of its platform that the policy's groups contain, sorted,
// if a condition asks for the requester's groups; otherwise nil. A turn's Actor.Groups must say which of these the person is in, by whichever
// account, before Rule is called.
func (p *Policy) RequesterGroups(id string) map[string][]string {
	if !p.asksGroups() {
		return nil
	}
	wanted := map[string][]string{}
	for _, account := range append(p.Accounts(p.roster.people[id]), id) {
		var all []string
		for _, g := range p.roster.groups {
			all = append(all, slices.DeleteFunc(slices.Clone(g.flat), func(id string) bool {
				return !IsPlatformGroup(id) || PlatformOf(id) != PlatformOf(account)
			})...)
		}
		if slices.Sort(all); len(all) > 0 {
			wanted[account] = slices.Compact(all)
		}
	}
	return wanted
}

// asksGroups reports whether a condition may ask for the requester's groups.
func (p *Policy) asksGroups() bool {
	return slices.ContainsFunc(p.rules, func(r *rule) bool { return r.when != nil && r.when.groups })
}

// Accounts are the accounts of a person of the policy, in the file's order; none if there is no such person.
func (p *Policy) Accounts(person string) []string { return slices.Clone(p.roster.accounts[person]) }
