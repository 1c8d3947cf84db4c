package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"gatehouse/core"
)

// deadLetter is a turn that was given up, or a post.
type deadLetter struct {
	Seq  int64
	Post bool
}

// deadLetterOf reads which one a request is about: turn or post, with its number.
func deadLetterOf(from url.Values) (d deadLetter, ok bool) {
	d.Post = from.Has("post")
	number := from.Get("turn")
	if d.Post {
		number = from.Get("post")
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	d.Seq = seq
	return d, err == nil && seq > 0
}

// Kind is the name of its field in the form.
func (d deadLetter) Kind() string {
	if d.Post {
		return "post"
	}
	return "turn"
}

// deadLetterPage asks what is to be done about a dead letter.
type deadLetterPage struct {
	clock
	deadLetter
	Turn       *turnRow
	Sent       *postRow
	Token, Who string
}

// deadLetter shows one, with the question.
func (v *request) deadLetter(d deadLetter) error {
	page := deadLetterPage{
		clock: clock{v.Now()}, deadLetter: d, Token: v.Gate.FormToken(v.who, v.r), Who: v.who.Name,
	}
	title := "Turn " + strconv.FormatInt(d.Seq, 10)
	if d.Post {
		title = "Post " + strconv.FormatInt(d.Seq, 10)
		posts, err := v.Views.ListPosts(v.r.Context(), []core.RowState{core.RowDead, core.RowUnknown}, "", 0)
		i := slices.IndexFunc(posts, func(r core.OutboxRow) bool { return r.Seq == d.Seq })
		if err != nil || i < 0 {
			return orNothing(err)
		}
		row := v.postRow(posts[i])
		page.Sent = &row
	} else {
		turns, err := v.Views.Events(v.r.Context(), core.EventFilter{
			Ends: []core.EndKind{core.EndDead}, Seq: d.Seq, Bare: true, Limit: 1,
		})
		if err != nil || len(turns) == 0 {
			return orNothing(err)
		}
		row := v.turnRow(turns[0])
		page.Turn = &row
	}
	return v.show(http.StatusOK, "deadletter", title, page)
}

func orNothing(err error) error {
	if err == nil {
		return nothingHere()
	}
	return err
}

// saidOf is what is said of what was done.
var saidOf = map[string]string{
	"retry turn":   "The turn is tried again.",
	"retry post":   "The post will be sent again. If it had arrived after all, it appears twice.",
	"discard turn": "The turn is removed from the dead letters.",
	"discard post": "The post is removed from the dead letters.",
}

// mendDeadLetter does what gatehouse deadletters retry and drop do.
func (v *request) mendDeadLetter() error {
	if err := v.checkedForm(formSize); err != nil {
		return err
	}
	d, ok := deadLetterOf(v.r.PostForm)
	choice := v.r.PostForm.Get("choice")
	ctx := v.r.Context()
	var err error
	switch {
	case !ok:
		return nothingHere()
	case choice == "retry" && d.Post:
		err = v.Views.Resend(ctx, d.Seq)
	case choice == "retry":
		_, err = v.Views.Retry(ctx, d.Seq)
	case choice == "discard" && d.Post:
		err = v.Views.DropPost(ctx, d.Seq)
	case choice == "discard":
		err = v.Views.Drop(ctx, d.Seq)
	default:
		return refuse(http.StatusBadRequest, "Not possible here", "Nothing was chosen, so nothing was done.")
	}
	if err != nil {
		return err
	}
	v.Log.Info("a dead letter was dealt with on the page", "person", v.who.Actor.ID, d.Kind(), d.Seq, "choice", choice)
	if v.Turns != nil {
		v.Turns.Nudge()
	}
	return v.redirect("/queue?" + url.Values{"done": {choice + " " + d.Kind()}}.Encode())
}
