package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatehouse/adapters/access"
	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

// mostLooked is how many approvals, and how many events, are looked at for the names of people.
const mostLooked = 2000

// checkPeople asks about accounts on different platforms that have one name, and that the policy does not say are one
// person's. It merges nothing: two people may have one name. Of names it knows those that the database has, and those
// of the tokens.
func checkPeople(ctx context.Context, cfg settings.Config, store *storage.Store) (found []finding) {
	if cfg.Policy.Path() == "" { // nobody can be mapped without a file
		return nil
	}
	names, p := accountNames(ctx, cfg, store), cfg.Policy.Policy()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		ids := names[name].ids
		people := map[string]bool{}
		platforms := map[string]bool{}
		for _, id := range ids {
			people[p.Person(id)], platforms[policy.PlatformOf(id)] = true, true
		}
		if len(people) < 2 || len(platforms) < 2 {
			continue
		}
		found = append(found, finding{"people", stateWarn,
			fmt.Sprintf("Are %s one person? All are called %q, and the policy does not say so: "+
				"each has a vote of its own, and one may approve what another asks for.",
				strings.Join(ids, " and "), names[name].called),
			"If they are, write them as one entry of people in " + cfg.Policy.Path() + ". " +
				"If not, there is nothing to do. Names alone are compared: no e-mail address is known."})
	}
	return found
}

// named is the accounts of one name.
type named struct {
	called string // as one of them writes it
	ids    []string
}

// accountNames are the accounts that are known by a name, by that name without what people write differently.
func accountNames(ctx context.Context, cfg settings.Config, store *storage.Store) map[string]*named {
	all := map[string]*named{}
	known := cfg.Platforms()
	add := func(who core.Actor) {
		apart := func(c rune) bool { return strings.ContainsRune(" ._-", c) }
		key := strings.Join(strings.FieldsFunc(strings.ToLower(who.Name), apart), " ")
		if p, text, ok := known.Of(who.ID); key == "" || !ok || !p.Person.Matches(text) || who.ID == access.LocalID {
			return
		}
		if all[key] == nil {
			all[key] = &named{called: who.Name}
		}
		if one := all[key]; !slices.Contains(one.ids, who.ID) {
			one.ids = append(one.ids, who.ID)
			slices.Sort(one.ids)
		}
	}
	for _, t := range cfg.Tokens {
		add(core.Actor{ID: t.ID(), Name: t.Name})
	}
	if store == nil {
		return all
	}
	// What can't be read is told by other checks.
	approvals, _ := store.ListApprovals(ctx, core.ApprovalFilter{Limit: mostLooked})
	for _, a := range approvals {
		add(a.Requester)
		for _, v := range a.Votes {
			add(v.Actor)
		}
	}
	events, _ := store.Events(ctx, core.EventFilter{Limit: mostLooked})
	for _, e := range events {
		add(e.Actor)
	}
	return all
}
