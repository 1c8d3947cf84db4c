package sqlite

import (
	"cmp"
	"encoding/json"
	"slices"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// Each scope has its own query, which uses the index that fits it. For a list of scopes SQLite would scan all ready rows.

// ready is something that can be claimed, and since when.
type ready struct {
	name string
	at   int64
}

func readReady(scan func(...any) error) (r ready, err error) { return r, scan(&r.name, &r.at) }

// readyQueues returns the keys of queues that can be claimed, the longest waiting first.
func readyQueues(t *sqlstore.Tx, r core.ClaimRequest, _ bool) ([]string, error) {
	if !r.Controls {
		paused, err := t.Row([]any{new(int64)}, `select 1 from kv where name = 'paused'`)
		if err != nil || paused {
			return nil, err
		}
	}
	return firstOf(r.Scopes, r.Limit, func(scope core.Scope) ([]ready, error) {
		if scope.Conversations == nil {
			return sqlstore.List(t, readReady, `
				select queue_key, ready_at from queues where platform = $1 and controls = $2 and ready_at <= $3 order by ready_at limit $4`,
				scope.Platform, r.Controls, t.Now, r.Limit)
		}
		return sqlstore.List(t, readReady, `
			select queue_key, ready_at from queues indexed by queues_scoped
			where conversation in (select value from json_each($1)) and +platform = $2 and controls = $3 and ready_at <= $4 order by ready_at limit $5`,
			list(scope.Conversations), scope.Platform, r.Controls, t.Now, r.Limit)
	})
}

// dueDestinations returns the destinations with a post to deliver, the longest waiting first.
func dueDestinations(t *sqlstore.Tx, r core.PostRequest, _ bool) ([]string, error) {
	return firstOf(r.Scopes, r.Limit, func(scope core.Scope) ([]ready, error) {
		if scope.Conversations == nil {
			return sqlstore.List(t, readReady, `select destination, ready_at from destinations where platform = $1 and ready_at <= $2 order by ready_at limit $3`,
				scope.Platform, t.Now, r.Limit)
		}
		return sqlstore.List(t, readReady, `
			select destination, ready_at from destinations indexed by destinations_scoped
			where conversation in (select value from json_each($1)) and +platform = $2 and ready_at <= $3 order by ready_at limit $4`,
			list(scope.Conversations), scope.Platform, t.Now, r.Limit)
	})
}

// list encodes conversations as one argument, for json_each.
func list(conversations []core.ConversationID) string {
	text, _ := json.Marshal(conversations) // texts can always be encoded
	return string(text)
}

// firstOf returns at most n of the names that the scopes' queries find, each once.
func firstOf(scopes []core.Scope, n int, find func(core.Scope) ([]ready, error)) ([]string, error) {
	var all []ready
	for _, scope := range scopes {
		found, err := find(scope)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b ready) int { return cmp.Compare(a.at, b.at) })
	var names []string
	for _, one := range all {
		if len(names) < n && !slices.Contains(names, one.name) {
			names = append(names, one.name)
		}
	}
	return names, nil
}

// addQueue adds a queue's row if it is missing. There is one writer, so nothing has to be locked.
func addQueue(t *sqlstore.Tx, key core.QueueKey, platform string, conversation core.ConversationID) error {
	_, err := t.Exec(`insert into queues (queue_key, platform, conversation, controls) values ($1, $2, $3, $4) on conflict (queue_key) do nothing`,
		key, platform, conversation, key != conversation.Queue())
	return err
}
