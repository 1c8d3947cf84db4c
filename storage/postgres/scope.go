package postgres

import "gatehouse/core"

// scoped is what a process serves, as arguments: the platforms that it serves whole, and pairs of a platform and a conversation.
type scoped struct {
	platforms   []string
	pairsOf     []string
	pairedLanes []string
}

func scopes(all []core.Scope) scoped {
	s := scoped{platforms: []string{}, pairsOf: []string{}, pairedLanes: []string{}}
	for _, one := range all {
		if one.Lanes == nil {
			s.platforms = append(s.platforms, one.Platform)
		}
		for _, l := range one.Lanes {
			s.pairsOf = append(s.pairsOf, one.Platform)
			s.pairedLanes = append(s.pairedLanes, string(l))
		}
	}
	return s
}
