package postgres

import (
	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// claimable selects the queues that can be claimed. The clock is read once, so that the index bounds the search. $1 is controls.
const claimable = `
	from queues where controls = $1::boolean and ready_at <= (select ` + clock + `)
	and (platform = any($2::text[]) or (platform, conversation) in (select p, c from unnest($3::text[], $4::text[]) as pairs (p, c)))
	and ($1::boolean or not exists (select 1 from kv where name = 'paused'))`

// deliverable selects the destinations with something to deliver.
const deliverable = `
	from destinations where ready_at <= (select ` + clock + `)
	and (platform = any($1::text[]) or (platform, conversation) in (select p, c from unnest($2::text[], $3::text[]) as pairs (p, c)))`

// readyQueues returns the keys of queues that can be claimed, the longest waiting first. With take it locks them and skips those
// that are locked already.
func readyQueues(t *sqlstore.Tx, r core.ClaimRequest, take bool) ([]string, error) {
	platforms, pairsOf, conversations := scopes(r.Scopes)
	if !take {
		return t.Texts(`select queue_key `+claimable+` limit 1`, r.Controls, platforms, pairsOf, conversations)
	}
	return t.Texts(`select queue_key `+claimable+` order by ready_at limit $5 for update of queues skip locked`, r.Controls, platforms, pairsOf, conversations, r.Limit)
}

// dueDestinations returns the destinations with a post to deliver; take works as in readyQueues.
func dueDestinations(t *sqlstore.Tx, r core.PostRequest, take bool) ([]string, error) {
	platforms, pairsOf, conversations := scopes(r.Scopes)
	if !take {
		return t.Texts(`select destination `+deliverable+` limit 1`, platforms, pairsOf, conversations)
	}
	return t.Texts(`select destination `+deliverable+` order by ready_at limit $4 for update of destinations skip locked`, platforms, pairsOf, conversations, r.Limit)
}

// scopes returns the scopes of a process as arguments: platforms that it serves entirely, and pairs of platform and conversation.
func scopes(all []core.Scope) (platforms, pairsOf, conversations []string) {
	platforms, pairsOf, conversations = []string{}, []string{}, []string{}
	for _, one := range all {
		if one.Conversations == nil {
			platforms = append(platforms, one.Platform)
		}
		for _, c := range one.Conversations {
			pairsOf = append(pairsOf, one.Platform)
			conversations = append(conversations, string(c))
		}
	}
	return platforms, pairsOf, conversations
}
