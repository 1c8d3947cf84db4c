package postgres

import (
	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// scoped are the scopes of a process, $1 to $3: platforms that it serves entirely, and pairs of platform and
// conversation.
const scoped = `(select p as platform, null as conversation from unnest($1::text[]) as p union all
	select p, c from unnest($2::text[], $3::text[]) as pairs (p, c)) scope`

// ahead is of what was delayed at a time that is still to come, since the clock was set back; due is of all that is
// due.
const (
	ahead = `ready_at - delay > 0 and ready_at - delay > (select ` + clock + ` + 5000000000)` // sqlstore.SetBack
	due   = `(ready_at <= (select ` + clock + `) or ` + ahead + `)`
)

// claimable selects the queues that can be claimed. For each scope, what is due at once and what was delayed are found
// along an index each. $4: controls, $5: suspects, $6: the limit. The clock is read once.
const claimable = `
	select found.queue_key from ` + scoped + ` cross join lateral (
		(select queue_key, rank, head from queues q
			where q.platform = scope.platform and scope.conversation is null and controls = $4::boolean
				and suspect = $5::boolean and ready_at = 0
			order by rank, head limit $6)
		union all (select queue_key, rank, head from queues q
			where q.platform = scope.platform and scope.conversation is null and controls = $4::boolean
				and suspect = $5::boolean
			and ready_at > 0 and ready_at <= (select ` + clock + `) order by ready_at limit $6)
		union all (select queue_key, rank, head from queues q
			where q.platform = scope.platform and scope.conversation is null and controls = $4::boolean
				and suspect = $5::boolean and ` + ahead + ` limit $6)
		union all (select queue_key, rank, head from queues q
			where q.conversation = scope.conversation and q.platform = scope.platform and controls = $4::boolean
				and suspect = $5::boolean
			and ready_at is not null and ` + due + ` limit $6)
	) found
	where $4::boolean or not exists (select 1 from kv where name = 'paused')
	order by found.rank, found.head limit $6`

// deliverable selects the destinations with something to deliver; $4 is the limit.
const deliverable = `
	select found.destination from ` + scoped + ` cross join lateral (
		(select destination, head from destinations d
			where d.platform = scope.platform and scope.conversation is null and ready_at = 0 order by head limit $4)
		union all (select destination, head from destinations d
			where d.platform = scope.platform and scope.conversation is null and ready_at > 0
				and ready_at <= (select ` + clock + `) order by ready_at limit $4)
		union all (select destination, head from destinations d
			where d.platform = scope.platform and scope.conversation is null and ` + ahead + ` limit $4)
		union all (select destination, head from destinations d
			where d.conversation = scope.conversation and d.platform = scope.platform and ready_at is not null
				and ` + due + ` limit $4)
	) found
	order by found.head limit $4`

// beside is how many times its limit a claim looks at, since other processes may have locked the first ones.
const beside = 4

// ReadyQueues returns the keys of queues that can be claimed, the one whose turn it is first. With take it locks them
// and skips those that are locked already.
func (db *database) ReadyQueues(t *sqlstore.Tx, r core.ClaimRequest, take bool) ([]string, error) {
	platforms, pairsOf, conversations := scopes(r.Scopes)
	if !take {
		return t.Texts(claimable, platforms, pairsOf, conversations, r.Controls, r.Suspects, 1)
	}
	return t.Texts(`select queue_key from queues where queue_key in (`+claimable+`) and `+due+`
		order by rank, head limit $7 for update skip locked`,
		platforms, pairsOf, conversations, r.Controls, r.Suspects, beside*r.Limit, r.Limit)
}

// DueDestinations returns the destinations with a post to deliver; take works as in ReadyQueues.
func (db *database) DueDestinations(t *sqlstore.Tx, r core.PostRequest, take bool) ([]string, error) {
	platforms, pairsOf, conversations := scopes(r.Scopes)
	if !take {
		return t.Texts(deliverable, platforms, pairsOf, conversations, 1)
	}
	return t.Texts(`select destination from destinations where destination in (`+deliverable+`) and `+due+`
		order by head limit $5 for update skip locked`, platforms, pairsOf, conversations, beside*r.Limit, r.Limit)
}

// scopes returns the scopes of a process as arguments: platforms that it serves entirely, and pairs of platform and
// conversation.
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
