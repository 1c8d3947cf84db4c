package policy

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// roster is the people and groups of a policy. People are one each, whatever their accounts.
type roster struct {
	accounts map[string][]string // of each person, by name
	people   map[string]string   // the person of each account
	groups   map[string]*group
	names    []string // of the groups, sorted
	known    core.Platforms
	broken   bool // there are faults in people or groups
}

type group struct {
	at      *yaml.Node // its name
	members []member
	flat    []string // the ids, once flattened
	state   int      // of flattening
}

// member is an entry of a group or of approvers: an id, person:NAME or group:NAME.
type member struct {
	text string
	at   *yaml.Node
}

func (r *reader) people(n *yaml.Node, to *roster) {
	each, _ := r.known.Examples()
	accounts := "[" + strings.Join(each, ", ") + "]"
	lines := map[string]int{} // of the accounts
	for _, e := range r.Entries(n, "people", nil) {
		r.name(e, "person")
		to.accounts[e.Key] = []string{} // so that references to a person with faults are none
		for _, item := range r.List(e.Value, "the person "+strictyaml.Quoted(e.Key), accounts) {
			id, ok := r.Text(item, "an id of the person "+strictyaml.Quoted(e.Key), r.known.Example())
			if !ok || !r.account(item, id) {
				continue
			}
			switch owner, taken := to.people[id]; {
			case taken && owner != e.Key:
				r.Fault(item, "leave it with one of them", "%s is the id of two people, %s and, in line %d, %s", id,
					strictyaml.Quoted(e.Key), lines[id], strictyaml.Quoted(owner))
			case !taken:
				to.people[id], lines[id] = e.Key, item.Line
				to.accounts[e.Key] = append(to.accounts[e.Key], id)
			}
		}
	}
}

// account checks the id of a person's account.
func (r *reader) account(n *yaml.Node, id string) bool {
	what, do := checkID(r.known, id)
	if what == "" && isGroup(r.known, id) {
		what, do = id+" is no single person", "name the accounts of one person here, and groups under groups"
	}
	if what != "" {
		r.Fault(n, do, "%s", what)
	}
	return what == ""
}

// name checks the name of a person or group.
func (r *reader) name(e strictyaml.Entry, what string) {
	if !entryName.MatchString(e.Key) || e.Key == core.LocalPerson {
		r.Fault(e.At, "use letters, digits, _, . and -, and not local", "the name of the %s %s can't be used", what,
			strictyaml.Quoted(e.Key))
	}
}

func (r *reader) groups(n *yaml.Node, to *roster) {
	all := r.Entries(n, "groups", nil)
	for _, e := range all {
		r.name(e, "group")
		to.groups[e.Key] = &group{at: e.At}
		to.names = append(to.names, e.Key)
	}
	slices.Sort(to.names)
	for _, e := range all {
		to.groups[e.Key].members = r.members(e.Value, "the group "+strictyaml.Quoted(e.Key), to)
	}
	for _, name := range to.names { // those that are not in a cycle that was reported
		r.flatten(to, name, nil)
	}
}

// members reads a list of ids and names of people and groups, and checks that there are such.
func (r *reader) members(n *yaml.Node, what string, in *roster) []member {
	var all []member
	for _, item := range r.List(n, what, "["+r.known.Example()+"]") {
		text, ok := r.Text(item, "an entry of "+what, r.known.Example())
		if ok && r.member(item, text, in) {
			all = append(all, member{text, item})
		}
	}
	return all
}

func (r *reader) member(n *yaml.Node, text string, in *roster) bool {
	if name, ok := strings.CutPrefix(text, "person:"); ok {
		if _, known := in.accounts[name]; !known {
			r.Fault(n, strictyaml.Meant(name, slices.Sorted(maps.Keys(in.accounts)))+" or add it under people",
				"unknown person %s", strictyaml.Quoted(name))
			return false
		}
		return true
	}
	if name, ok := strings.CutPrefix(text, "group:"); ok {
		if in.groups[name] == nil {
			r.Fault(n, strictyaml.Meant(name, in.names)+" or add it under groups",
				"unknown group %s", strictyaml.Quoted(name))
			return false
		}
		return true
	}
	what, do := checkID(r.known, text)
	if what != "" {
		r.Fault(n, do, "%s", what)
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
		const most = 10
		cycle := above[slices.Index(above, name):]
		if len(cycle) > most {
			cycle = append(slices.Clone(cycle[:most]), "…")
		}
		r.Fault(g.at, "remove one of them from the next", "groups contain each other: %s → %s",
			strings.Join(cycle, " → "), name)
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
		if r.Spend(len(found), m.at); r.Exhausted() {
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
		if isGroup(t.known, id) {
			return 0, false
		}
		different[core.Rule{People: t.people}.Person(id)] = true
	}
	return len(different), true
}

// peopleOf are the accounts of the people who have one among some ids; of all people if a group of a platform is among
// the ids.
func (t *roster) peopleOf(ids []string) map[string]string {
	who := map[string]string{}
	for _, id := range ids {
		if isGroup(t.known, id) {
			return t.people
		}
		for _, account := range t.accounts[t.people[id]] {
			who[account] = t.people[id]
		}
	}
	return who
}
