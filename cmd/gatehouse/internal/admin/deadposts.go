package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// deadLetter parses the id of a dead letter: a turn's number, or post:NUMBER.
func deadLetter(id string) (turn, post int64, err error) {
	if post, ok, err := postNumber(id); ok || err != nil {
		return 0, post, err
	}
	turn, err = strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, 0, core.Errorf(core.Invalid, "%q is neither a turn number nor post:NUMBER. List dead letters with gatehouse deadletters list.", id)
	}
	return turn, 0, nil
}

// postNumber parses post:NUMBER. ok is false for an id without that prefix.
func postNumber(id string) (seq int64, ok bool, err error) {
	number, ok := strings.CutPrefix(id, "post:")
	if !ok {
		return 0, false, nil
	}
	seq, err = strconv.ParseInt(number, 10, 64)
	if err != nil || seq <= 0 {
		return 0, true, core.Errorf(core.Invalid, "%q is not of the form post:NUMBER. List dead letters with gatehouse deadletters list.", id)
	}
	return seq, true, nil
}

// showPost prints a post that is a dead letter.
func showPost(ctx context.Context, a *cli.App, store *storage.Store, seq int64, asJSON bool) error {
	posts, err := store.ListPosts(ctx, []core.RowState{core.RowDead, core.RowUnknown, core.RowDropped}, "", 0)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(posts, func(r core.OutboxRow) bool { return r.Seq == seq })
	if i < 0 {
		return unknownPost(seq)
	}
	v := viewPost(posts[i])
	if asJSON {
		return a.PrintJSON(deadView{Type: "post", Post: &v})
	}
	answers := ""
	if v.Event != 0 {
		answers = fmt.Sprintf("turn %d", v.Event)
	}
	a.Fields("post", fmt.Sprint(v.Seq), "state", string(v.State), "kind", string(v.Kind), "conversation", string(v.Conversation), "answers", answers,
		"created", cli.Stamp(v.CreatedAt), "attempts", fmt.Sprint(v.Attempts), "cause", v.Cause, "text", v.Text)
	return nil
}

// noPost names the post in an error of category not_found.
func noPost(err error, seq int64) error {
	if core.CategoryOf(err) == core.NotFound {
		return unknownPost(seq)
	}
	return cli.Bad(err)
}

func unknownPost(seq int64) error {
	return core.Errorf(core.NotFound, "There is no post %d among the dead letters. List them with gatehouse deadletters list.", seq)
}
