package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core"
)

// deadLetter reads what people name a dead letter by: a turn's number, or post:NUMBER.
func deadLetter(id string) (turn, post int64, err error) {
	if post, ok, err := postNumber(id); ok || err != nil {
		return 0, post, err
	}
	turn, err = strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, 0, core.Errorf(core.Invalid, "%q is neither the number of a turn nor post:NUMBER; gatehouse deadletters list shows them.", id)
	}
	return turn, 0, nil
}

// postNumber reads post:NUMBER; ok: it is meant to be one.
func postNumber(id string) (seq int64, ok bool, err error) {
	number, ok := strings.CutPrefix(id, "post:")
	if !ok {
		return 0, false, nil
	}
	seq, err = strconv.ParseInt(number, 10, 64)
	if err != nil || seq <= 0 {
		return 0, true, core.Errorf(core.Invalid, "%q is not post:NUMBER; gatehouse deadletters list shows them.", id)
	}
	return seq, true, nil
}

// showPost shows a post that gave up.
func (a *app) showPost(ctx context.Context, store core.Store, seq int64, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	posts, err := store.ListPosts(ctx, []core.RowState{core.RowDead, core.RowUnknown, core.RowDropped}, "", 0)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(posts, func(r core.OutboxRow) bool { return r.Seq == seq })
	if i < 0 {
		return noPost(core.Errorf(core.NotFound, "It is not there."), seq)
	}
	v := viewPost(posts[i])
	if asJSON {
		return a.json(deadView{Type: "post", Post: &v})
	}
	a.say("post:     %d", v.Seq)
	a.say("state:    %s", v.State)
	a.say("kind:     %s", v.Kind)
	a.say("conversation:     %s", v.Conversation)
	if v.Event != 0 {
		a.say("answers:  turn %d", v.Event)
	}
	a.say("since:    %s", stamp(v.CreatedAt))
	a.say("attempts: %d", v.Attempts)
	a.say("cause:    %s", v.Cause)
	a.say("text:     %s", v.Text)
	return nil
}

// noPost names the post that is not there.
func noPost(err error, seq int64) error {
	if core.CategoryOf(err) == core.NotFound {
		return core.Errorf(core.NotFound, "There is no post %d that gave up; gatehouse deadletters list shows them.", seq)
	}
	return bad(err)
}
