package sqlite

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// What is due at once and what was delayed are found by two queries, and each scope has queries of its own, so that
// each follows an index. SQLite would walk all ready rows otherwise.

// ready is something that can be claimed. The lowest rank goes first, then the lowest head.
type ready struct {
	name       string
	rank, head int64
}

func readReady(scan func(...any) error) (r ready, err error) {
	return r, scan(&r.name, &r.rank, &r.head)
}

// ReadyQueues returns the keys of queues that can be claimed, the one whose turn it is first; without take, one of
// them.
func (db *database) ReadyQueues(t *sqlstore.Tx, r core.ClaimRequest, take bool) ([]string, error) {
	// A constant, not an argument: SQLite would prepare the statement anew each time to find out whether a partial
	// index can answer it.
	which := ` and controls = false and not exists (select 1 from kv where name = 'paused')`
	if r.Controls {
		which = ` and controls = true`
	}
	if !take {
		r.Limit = 1
	}
	return firstOf(t, r.Scopes, r.Limit, take, func(scope core.Scope, due due) ([]ready, error) {
		if scope.Conversations == nil {
			return sqlstore.List(t, readReady, `
				select queue_key, rank, head from queues where platform = $1 and suspect = $2`+which+` and `+due.is+` $3
				order by `+due.order+` rank, head limit $4`, scope.Platform, r.Suspects, due.at, r.Limit)
		}
		return sqlstore.List(t, readReady, `
			select queue_key, rank, head from queues indexed by queues_scoped
			where conversation in (select value from json_each($1)) and ready_at is not null and +platform = $2
				and suspect = $3`+which+` and `+due.is+` $4
			order by `+due.order+` rank, head limit $5`,
			list(scope.Conversations), scope.Platform, r.Suspects, due.at, r.Limit)
	})
}

// DueDestinations returns the destinations with a post to deliver, the longest waiting first; without take, one of
// them.
func (db *database) DueDestinations(t *sqlstore.Tx, r core.PostRequest, take bool) ([]string, error) {
	if !take {
		r.Limit = 1
	}
	return firstOf(t, r.Scopes, r.Limit, take, func(scope core.Scope, due due) ([]ready, error) {
		if scope.Conversations == nil {
			return sqlstore.List(t, readReady, `
				select destination, 0, head from destinations where platform = $1 and `+due.is+` $2
				order by `+due.order+` head limit $3`,
				scope.Platform, due.at, r.Limit)
		}
		return sqlstore.List(t, readReady, `
			select destination, 0, head from destinations indexed by destinations_scoped
			where conversation in (select value from json_each($1)) and ready_at is not null and +platform = $2
				and `+due.is+` $3 order by `+due.order+` head limit $4`,
			list(scope.Conversations), scope.Platform, due.at, r.Limit)
	})
}

// list encodes conversations as one argument, for json_each.
func list(conversations []core.ConversationID) string {
	text, _ := json.Marshal(conversations) // texts can always be encoded
	return string(text)
}

// due is a condition on ready_at, and the order of the index that answers it.
type due struct {
	is    string
	at    int64
	order string
}

// firstOf returns at most n of the names that the scopes' queries find, each once; without take, the first that are
// found.
func firstOf(
	t *sqlstore.Tx, scopes []core.Scope, n int, take bool, find func(core.Scope, due) ([]ready, error),
) ([]string, error) {
	atOnce := due{is: "ready_at =", at: 0}
	// set before the clock was set back
	ahead := due{is: "ready_at - delay > 0 and ready_at - delay >", at: t.Now.Add(sqlstore.SetBack).UnixNano()}
	delayed := due{is: "ready_at > 0 and ready_at <=", at: t.Now.UnixNano(), order: "ready_at,"}
	var all []ready
	for _, scope := range scopes {
		for _, d := range []due{atOnce, delayed, ahead} {
			found, err := find(scope, d)
			if err != nil {
				return nil, err
			}
			if all = append(all, found...); len(all) > 0 && !take {
				return []string{all[0].name}, nil
			}
		}
	}
	slices.SortFunc(all, func(a, b ready) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.head, b.head))
	})
	var names []string
	for _, one := range all {
		if len(names) < n && !slices.Contains(names, one.name) {
			names = append(names, one.name)
		}
	}
	return names, nil
}

// LockQueue adds a queue's row if it is missing. There is one writer, so nothing has to be locked.
func (db *database) LockQueue(
	t *sqlstore.Tx, key core.QueueKey, platform string, conversation core.ConversationID,
) error {
	_, err := t.Exec(`insert into queues (queue_key, platform, conversation, controls) values ($1, $2, $3, $4)
		on conflict (queue_key) do nothing`,
		key, platform, conversation, key != conversation.Queue())
	return err
}

// LockDestinations has nothing to lock.
func (db *database) LockDestinations(*sqlstore.Tx, []string) error { return nil }

// LockRateLimit has nothing to lock.
func (db *database) LockRateLimit(*sqlstore.Tx, string, time.Duration) error { return nil }
