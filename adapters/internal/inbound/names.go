package inbound

import "golang.org/x/sync/errgroup"

// Limits of the names in one message. They are looked up together; whoever is mentioned after them stays an id.
const (
	MaxNames = 50 // different people, channels and groups
	lookUps  = 8  // at a time
)

// FewNames returns a look-up that asks names once for each of the first MaxNames different ids, and gives "" for all
// others.
func FewNames(names func(kind byte, id string) string) func(kind byte, id string) string {
	known := map[string]string{}
	return func(kind byte, id string) string {
		key := string(kind) + id
		name, ok := known[key]
		if !ok && len(known) < MaxNames {
			name = names(kind, id)
			known[key] = name
		}
		return name
	}
}

// LookUp looks up the names of people, several at a time, and returns when all are known.
func LookUp(ids []string, name func(id string) string) map[string]string {
	found := make([]string, len(ids))
	var batch errgroup.Group
	batch.SetLimit(lookUps)
	for i, id := range ids {
		batch.Go(func() error {
			found[i] = name(id)
			return nil
		})
	}
	_ = batch.Wait() // its functions return no error
	names := map[string]string{}
	for i, id := range ids {
		names[id] = found[i]
	}
	return names
}
