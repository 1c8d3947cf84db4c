package approvals

import (
	"slices"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// posts returns the cards that tell of an open approval: the one in its conversation, whose key is given, and copies
// where its rule says so. The keys of the copies are made from that key. Approvers of the conversation's own platform
// who can't see it get their copies from that platform, which knows who they are; see core.Directory.
//
//   - A channel of Rule.Notify gets a copy that notifies the approvers.
//   - With "here" or "dm", people who are named and whose only accounts are on other platforms get a copy there, as a
//     direct message. The members of a group on another platform can't be known from here.
//   - A request of another agent has no conversation, and so no card but the copies: "here" is nowhere. With "dm", a
//     copy without a person stands for the approvers of a platform among whom are groups: whoever delivers it makes one
//     for each of them, see package outbox.
//   - Without "here", the card in the conversation notifies nobody, unless no platform of the others is configured. It
//     is there for who asked, who may withdraw the request. If a copy can't be delivered, it asks after all, and the
//     approvers get direct messages; see package outbox.
func (s *Service) posts(a core.Approval, key string, event int64, occasion core.Occasion) []core.Post {
	tell := a.Rule.Notify
	if len(tell) == 0 {
		tell = []string{core.NotifyHere}
	}
	card := core.Post{
		Key: key, To: a.Address, Conversation: a.Conversation, Kind: core.PostCard, Approval: a.ID, Event: event,
		Occasion: occasion,
	}
	if occasion == core.Reminder {
		card.Reminds = a.CardKey()
	}
	copyTo := func(where string, to core.Address) core.Post {
		c := card
		c.Key, c.To, c.Copy = key+"/"+where, to, true
		if c.Reminds != "" {
			c.Reminds += "/" + where
		}
		return c
	}
	all := []core.Post{card}
	if a.External != nil {
		all = nil // there is no conversation
	}
	for _, where := range tell {
		if p, channel, _ := s.platforms.Of(where); p.Configured {
			all = append(all, copyTo(where, core.Address{Platform: p.Name, Channel: channel}))
		}
	}
	here, direct := a.External == nil && slices.Contains(tell, core.NotifyHere), slices.Contains(tell, core.NotifyDM)
	if here || direct {
		for _, id := range s.elsewhere(a, occasion) {
			c := copyTo(id, core.Address{Platform: policy.PlatformOf(id)})
			c.Person = id
			all = append(all, c)
		}
	}
	if a.External != nil {
		if direct {
			for _, platform := range s.withGroups(a, occasion) {
				all = append(all, copyTo(core.EachApprover, core.Address{Platform: platform}))
			}
		}
		return all
	}
	if all[0].Quiet = !here && (direct || len(all) > 1); all[0].Quiet {
		for i := range all[1:] {
			all[1+i].Instead = key
		}
	}
	return all
}

// toTell are the approvers to tell on an occasion.
func toTell(a core.Approval, occasion core.Occasion) []string {
	if occasion == core.Escalated {
		return a.Rule.Groups()
	}
	return a.Rule.Approvers
}

// withGroups returns the platforms of those approvers that are groups.
func (s *Service) withGroups(a core.Approval, occasion core.Occasion) (names []string) {
	for _, id := range toTell(a, occasion) {
		p, text, _ := s.platforms.Of(id)
		if p.Configured && p.Group.Matches(text) && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// elsewhere returns the approvers that are named as people of other platforms than the conversation's, once for each
// person.
func (s *Service) elsewhere(a core.Approval, occasion core.Occasion) (ids []string) {
	approvers := toTell(a, occasion)
	told := map[string]bool{}
	for _, id := range approvers {
		if policy.PlatformOf(id) == a.Address.Platform {
			told[a.Rule.Person(id)] = true
		}
	}
	for _, id := range approvers {
		p, text, _ := s.platforms.Of(id)
		if person := a.Rule.Person(id); !told[person] && p.Configured && !p.Group.Matches(text) {
			told[person] = true
			ids = append(ids, id)
		}
	}
	return ids
}
