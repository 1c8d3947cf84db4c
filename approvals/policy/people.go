package policy

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
)

// roster is the people and groups of a policy. People are one each, whatever their accounts.
type roster struct {
	accounts map[string][]string // of each person, by name
	people   map[string]string   // the person of each account
	groups   map[string]*group
	names    []string // of the groups, sorted
	broken   bool     // there are faults in people or groups
}

type group struct {
	line    int
	members []member
	flat    []string // the ids, once flattened
	state   int      // of flattening
}

// member is an entry of a group or of approvers: an id, person:NAME or group:NAME.
type member struct {
	text string
	line int
}

func (r *reader) people(n *yaml.Node, to *roster) {
	lines := map[string]int{} // of the accounts
	for _, e := range r.entries(n, "people", nil) {
		r.name(e, "person")
		to.accounts[e.key] = []string{} // so that references to a person with faults are none
		for _, item := range r.list(e.value, "the person "+quoted(e.key), "[slack:U0123ABCD, discord:80351110224678912]") {
			id, ok := r.text(item, "an id of the person "+quoted(e.key), "slack:U0123ABCD")
			if !ok || !r.account(item, id) {
				continue
			}
			switch owner, taken := to.people[id]; {
			case taken && owner != e.key:
				r.fault(item.Line, "leave it with one of them", "%s is the id of two people, %s and, in line %d, %s", id, quoted(e.key), lines[id], quoted(owner))
			case !taken:
				to.people[id], lines[id] = e.key, item.Line
				to.accounts[e.key] = append(to.accounts[e.key], id)
			}
		}
	}
}

// account checks the id of a person's account.
func (r *reader) account(n *yaml.Node, id string) bool {
	what, do := checkID(id)
	if what == "" && isGroup(id) {
		what, do = id+" is no single person", "name the accounts of one person here, and groups under groups"
	}
	if what != "" {
		r.fault(n.Line, do, "%s", what)
	}
	return what == ""
}

// name checks the name of a person or group.
func (r *reader) name(e entry, what string) {
	if !entryName.MatchString(e.key) || e.key == core.LocalPerson {
		r.fault(e.line, "use letters, digits, _, . and -, and not local", "the name of the %s %s can't be used", what, quoted(e.key))
	}
}

func (r *reader) groups(n *yaml.Node, to *roster) {
	for _, e := range r.entries(n, "groups", nil) {
		r.name(e, "group")
		to.groups[e.key] = &group{line: e.line}
		to.names = append(to.names, e.key)
	}
	slices.Sort(to.names)
	for _, e := range r.quietly(n) {
		if g := to.groups[e.key]; g != nil && g.members == nil {
			g.members = r.members(e.value, "the group "+quoted(e.key), to)
		}
	}
	for _, name := range to.names { // those that are not in a cycle that was reported
		r.flatten(to, name, nil)
	}
}

// quietly is the entries of a mapping whose faults have been reported.
func (r *reader) quietly(n *yaml.Node) []entry {
	before, values := r.faults, r.values
	all := r.entries(n, "", nil)
	r.faults, r.values = before, values
	return all
}

// members reads a list of ids and names of people and groups, and checks that there are such.
func (r *reader) members(n *yaml.Node, what string, in *roster) []member {
	var all []member
	for _, item := range r.list(n, what, "[slack:U0123ABCD]") {
		text, ok := r.text(item, "an entry of "+what, "slack:U0123ABCD")
		if ok && r.member(item, text, in) {
			all = append(all, member{text, item.Line})
		}
	}
	return all
}

func (r *reader) member(n *yaml.Node, text string, in *roster) bool {
	if name, ok := strings.CutPrefix(text, "person:"); ok {
		if _, known := in.accounts[name]; !known {
			r.fault(n.Line, meant(name, slices.Sorted(maps.Keys(in.accounts)))+" or add it under people", "unknown person %s", quoted(name))
			return false
		}
		return true
	}
	if name, ok := strings.CutPrefix(text, "group:"); ok {
		if in.groups[name] == nil {
			r.fault(n.Line, meant(name, in.names)+" or add it under groups", "unknown group %s", quoted(name))
			return false
		}
		return true
	}
	what, do := checkID(text)
	if what != "" {
		r.fault(n.Line, do, "%s", what)
	}
	return what == ""
}

// The states of flattening a group.
const (
	flattening = 1
	flattened  = 2
)

// flatten returns the ids of a group, and reports a cycle. above are the groups that lead to it.
func (r *reader) flatten(in *roster, name string, above []string) []string {
	g := in.groups[name]
	switch g.state {
	case flattened:
		return g.flat
	case flattening:
		cycle := append(slices.Clone(above[slices.Index(above, name):]), name)
		r.fault(g.line, "remove one of them from the next", "groups contain each other: %s", strings.Join(cycle, " → "))
		return nil
	}
	g.state = flattening
	g.flat = r.ids(in, g.members, append(above, name))
	g.state = flattened
	return g.flat
}

// ids returns the ids that members stand for, in order and each once.
func (r *reader) ids(in *roster, members []member, above []string) []string {
	var all []string
	seen := map[string]bool{}
	for _, m := range members {
		found := []string{m.text}
		if name, ok := strings.CutPrefix(m.text, "person:"); ok {
			found = in.accounts[name]
		} else if name, ok := strings.CutPrefix(m.text, "group:"); ok {
			found = r.flatten(in, name, above)
		}
		if r.values += len(found); r.exhausted() {
			break
		}
		for _, id := range found {
			if !seen[id] {
				seen[id] = true
				all = append(all, id)
			}
		}
	}
	return all
}

// groupsOf are the names of the groups that contain a person: by one of their accounts, or by a group of a platform.
func (t *roster) groupsOf(who core.Actor) []string {
	all := []string{}
	for _, name := range t.names {
		rule := core.Rule{Approvers: t.groups[name].flat, Self: true, People: t.people}
		if rule.MayDecide(who, core.Actor{}) {
			all = append(all, name)
		}
	}
	return all
}

// count is how many different people some ids are; known is false if a group of a platform is among them.
func (t *roster) count(ids []string) (people int, known bool) {
	different := map[string]bool{}
	for _, id := range ids {
		if isGroup(id) {
			return 0, false
		}
		different[core.Rule{People: t.people}.Person(id)] = true
	}
	return len(different), true
}

// peopleOf are the accounts of the people who have one among some ids; of all people if a group of a platform is among the ids.
func (t *roster) peopleOf(ids []string) map[string]string {
	who := map[string]string{}
	for _, id := range ids {
		if isGroup(id) {
			return t.people
		}
		for _, account := range t.accounts[t.people[id]] {
			who[account] = t.people[id]
		}
	}
	return who
}
