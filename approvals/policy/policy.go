package policy

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// Policy decides about calls. It does not change, and any number of goroutines may use it.
type Policy struct {
	file     string // its name
	defaults Defaults
	roster   roster
	rules    []*rule
	askers   []*asker
	groups   bool // a condition may ask for the requester's groups
}

// New is the policy without a file.
func New(defaults Defaults) *Policy { return &Policy{defaults: defaults} }

// Load reads a policy from a file. The error is of type strictyaml.Faults and names all that is wrong.
func Load(path string, defaults Defaults) (*Policy, error) {
	r := strictyaml.Reader{File: path}
	data, ok := r.ReadFile()
	if !ok {
		return nil, r.Err()
	}
	return Parse(path, data, defaults)
}

// Parse reads a policy from the text of a file; name is the file's name in errors. The error is of type
// strictyaml.Faults and names all that is wrong; then there is no policy.
func Parse(name string, data []byte, defaults Defaults) (*Policy, error) {
	r := &reader{strictyaml.Reader{File: name}, defaults.Platforms}
	people := roster{
		known: defaults.Platforms, accounts: map[string][]string{}, people: map[string]string{},
		groups: map[string]*group{},
	}
	p := &Policy{file: name, defaults: defaults, roster: people}
	if root := r.Parse(data, "begin with version: 1, then people, groups and rules"); root != nil {
		r.policy(root, p)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

func (r *reader) policy(root *yaml.Node, p *Policy) {
	sections := r.Values(root, "the policy", "version", "people", "groups", "rules", "asks")
	if root.Kind != yaml.MappingNode {
		return
	}
	r.Version(root, sections["version"])
	// those that are not written yet
	maps.DeleteFunc(sections, func(_ string, v *yaml.Node) bool { return v.Tag == "!!null" })
	before := len(r.Faults)
	if v := sections["people"]; v != nil {
		r.people(v, &p.roster)
	}
	if v := sections["groups"]; v != nil {
		r.groups(v, &p.roster)
	}
	p.roster.broken = len(r.Faults) > before
	if v := sections["rules"]; v != nil {
		p.rules = r.rules(v, &p.roster, p.defaults)
		p.groups = slices.ContainsFunc(p.rules, func(r *rule) bool { return r.when != nil && r.when.groups })
	}
	if v := sections["asks"]; v != nil {
		p.askers = r.asks(v, &p.roster)
	}
}

// Approvers are all who may approve something: those of all rules, of their escalations, and of the defaults, sorted
// and each once.
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

// RequesterGroups are, for each account of the person who asks, the groups and roles of its platform that the policy's
// groups contain, sorted, if a condition asks for the requester's groups; otherwise nil. A turn's Actor.Groups must say
// which of these the person is in, by whichever account, before Rule is called.
func (p *Policy) RequesterGroups(id string) map[string][]string {
	if !p.groups {
		return nil
	}
	wanted := map[string][]string{}
	for _, account := range append(p.Accounts(p.roster.people[id]), id) {
		var all []string
		for _, g := range p.roster.groups {
			all = append(all, slices.DeleteFunc(slices.Clone(g.flat), func(id string) bool {
				return !p.defaults.Platforms.Group(id) || PlatformOf(id) != PlatformOf(account)
			})...)
		}
		if slices.Sort(all); len(all) > 0 {
			wanted[account] = slices.Compact(all)
		}
	}
	return wanted
}

// Person is the name of the person whose account an id is; one that the file does not map is a person of its own.
func (p *Policy) Person(id string) string { return core.Rule{People: p.roster.people}.Person(id) }

// Accounts are the accounts of a person of the policy, in the file's order; none if there is no such person.
func (p *Policy) Accounts(person string) []string { return slices.Clone(p.roster.accounts[person]) }

// IDs are the ids that entries of approvers stand for: ids, person:NAME and group:NAME, sorted and each once. Error:
// invalid, for a name that the policy does not have.
func (p *Policy) IDs(of []string) (all []string, err error) {
	for _, who := range of {
		found := []string{who}
		if strings.HasPrefix(who, "person:") || strings.HasPrefix(who, "group:") {
			found = p.idsOf(who)
		}
		if len(found) == 0 {
			return nil, core.Errorf(core.Invalid,
				"The policy has no %s. Use a name of its sections people and groups, or an id.", who)
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
