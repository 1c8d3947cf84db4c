package sqlstore

import (
	"context"

	"gatehouse/core"
)

// OpenExternal stores an approval that another agent requests, with its posts, unless there is one of its id: then it
// returns that one, and created is false. At most so many of a requester may be open at a time (rate_limited). An
// approval that the policy has decided is stored as decided.
func (s *Store) OpenExternal(
	ctx context.Context, a core.Approval, posts []core.Post, most int,
) (stored core.Approval, created bool, err error) {
	err = s.write(ctx, func(t *Tx) error {
		stored, created = core.Approval{}, false
		// so that one request of a caller comes after the other
		if err := t.lockQueues(a.Address.Platform, a.Conversation, a.Conversation.Queue()); err != nil {
			return err
		}
		if err := t.readClock(); err != nil {
			return err
		}
		known, err := t.approval(a.ID)
		if core.CategoryOf(err) != core.NotFound {
			stored = known
			return err
		}
		open := 0
		if _, err := t.Row([]any{&open}, `select count(*) from approvals where requester = $1 and state = 'open'
			and conversation = $2`, a.Requester.ID, a.Conversation); err != nil {
			return err
		}
		if open >= most && a.State == core.Open {
			return core.Errorf(core.RateLimited,
				"You have %d open requests, which is the limit. Wait for their decisions, or withdraw some.", open)
		}
		if err := t.openApproval(a); err != nil {
			return err
		}
		for _, p := range posts {
			t.addPost(p)
		}
		created = true
		stored, err = t.approval(a.ID)
		return err
	})
	return stored, created, err
}
