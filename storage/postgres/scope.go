package postgres

import "gatehouse/core"

// scoped is what a process serves, as arguments: the platforms that it serves whole, and pairs of a platform and a conversation.
type scoped struct {
	platforms           []string
	pairsOf             []string
	pairedConversations []string
}

func scopes(all []core.Scope) scoped {
	s := scoped{platforms: []string{}, pairsOf: []string{}, pairedConversations: []string{}}
	for _, one := range all {
		if one.Conversations == nil {
			s.platforms = append(s.platforms, one.Platform)
		}
		for _, l := range one.Conversations {
			s.pairsOf = append(s.pairsOf, one.Platform)
			s.pairedConversations = append(s.pairedConversations, string(l))
		}
	}
	return s
}
