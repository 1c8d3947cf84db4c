package storagetest

import (
	"sync"
	"time"

	"gatehouse/core"
)

// picture stores bytes as an image of an event, and returns a message that refers to it.
func (w *world) picture(e core.Event, data string) core.Message {
	w.Helper()
	digest := must(w.PutBlob(w.ctx, e, []byte(data)))(w)
	return core.Message{Role: core.User, Content: core.Blocks(core.StoredImage("image/png", digest, len(data)))}
}

// shown ends a turn whose session gets a message with an image.
func (w *world) shown(l core.ConversationID, data string) core.SessionID {
	w.Helper()
	w.message(l)
	c := w.claim(minute)
	rec := w.session(c, 0)
	h := rec.Messages.Append(w.picture(c.Event.Event, data))
	rec.Messages = &h
	w.changed(c, core.Changes{Session: rec})
	return c.Session
}

// blob checks whether bytes are stored.
func (w *world) blob(data string, stored bool) {
	w.Helper()
	got, err := w.LoadBlob(w.ctx, core.Digest([]byte(data)))
	if !stored {
		w.fails(err, core.NotFound)
		return
	}
	w.ok(err)
	w.equal("the bytes", string(got), data)
}

var blobExamples = []example{
	{"an image beside a result is there as long as the message", func(w *world) {
		w.message(conversation)
		c := w.claim(minute)
		rec := w.session(c, 0)
		row := core.Result("c1", "seen")
		row.Kept = &core.Kept{Images: w.picture(c.Event.Event, "beside").Content.Blocks()}
		h := rec.Messages.Append(
			core.Message{
				Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: "c1", Name: "see", Arguments: []byte(`{}`)}},
			}, row)
		rec.Messages = &h
		w.changed(c, core.Changes{Session: rec})
		w.prune()
		w.blob("beside", true)
		msgs := must(must(w.LoadSession(w.ctx, c.Session, core.Writer{}))(w).Messages.From(w.ctx, 1))(w)
		w.equal("what is beside it", msgs[0].Kept, row.Kept)
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.blob("beside", false)
	}},
	{"an image is read byte for byte by its digest", func(w *world) {
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		w.message(conversation)
		e := w.claim(minute).Event.Event
		digest := must(w.PutBlob(w.ctx, e, all))(w)
		w.equal("the digest", digest, core.Digest(all))
		w.equal("again", must(w.PutBlob(w.ctx, e, all))(w), digest)
		w.blob(string(all), true)
		w.blob("another", false)
	}},
	{"a history holds an image's digest, not its bytes", func(w *world) {
		id := w.shown(conversation, "cat")
		h := must(w.LoadSession(w.ctx, id, core.Writer{}))(w).Messages
		msgs := must(h.From(w.ctx, 0))(w)
		want := core.Message{
			Role: core.User, Content: core.Blocks(core.StoredImage("image/png", core.Digest([]byte("cat")), 3)),
		}
		w.equal("the messages", msgs, []core.Message{want})
		w.ok(msgs[0].Validate())
		full := must(msgs[0].WithImages(w.ctx, w.LoadBlob))(w)
		w.equal("with its bytes", full.Content.Blocks()[0].Source,
			&core.ImageSource{Type: core.SourceInline, Base64Data: "Y2F0"})
	}},
	{"an image goes with the last session that has it", func(w *world) {
		one, two := w.shown(conversation, "cat"), w.shown(other, "cat")
		w.shown(conversation, "dog")
		w.ok(w.DeleteSession(w.ctx, one))
		w.blob("cat", true)
		w.blob("dog", false)
		w.ok(w.DeleteSession(w.ctx, two))
		w.blob("cat", false)
		w.equal("what is left to prune", w.prune(), 0)
	}},
	{"an image is kept while the event that it came with has not ended", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		m := w.picture(c.Event.Event, "cat")
		id := w.shown(other, "cat")
		w.ok(w.DeleteSession(w.ctx, id))
		w.old()
		w.prune()
		w.blob("cat", true)
		w.restart()
		c = w.take(seq, minute)
		rec := w.session(c, 0)
		h := rec.Messages.Append(m)
		rec.Messages = &h
		w.changed(c, core.Changes{Session: rec})
		w.prune()
		w.blob("cat", true)
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.blob("cat", false)
	}},
	{"Prune removes the image of an event that ended without a message", func(w *world) {
		w.message(conversation)
		c := w.claim(minute)
		w.picture(c.Event.Event, "cat")
		w.done(c, core.Finish{End: core.End{Kind: core.EndErrored}})
		w.blob("cat", true)
		w.prune()
		w.blob("cat", false)
	}},
	{"what is kept for a lifetime is there until then, whatever comes and goes with the same bytes", func(w *world) {
		e := core.Event{Platform: platform, ID: "upload"}
		w.equal("nothing is stored", must(w.KeepBlob(w.ctx, e, core.Digest([]byte("cat")), minute))(w), false)
		digest := must(w.PutBlobFor(w.ctx, e, []byte("cat"), 2*time.Hour))(w)
		w.equal("a shorter lifetime", must(w.KeepBlob(w.ctx, e, digest, time.Hour))(w), true)
		w.message(conversation)
		c := w.claim(minute)
		w.picture(c.Event.Event, "cat")
		w.done(c, core.Finish{})
		w.db.Advance(time.Hour)
		w.prune()
		w.blob("cat", true)
		w.db.Advance(time.Hour)
		w.prune()
		w.blob("cat", false)
	}},
	{"what came with a session's events goes with it, kept or not", func(w *world) {
		w.message(conversation)
		c := w.claim(minute)
		e := core.Event{Platform: platform, ID: "upload"}
		digest := must(w.PutBlobFor(w.ctx, e, []byte("notes"), time.Hour))(w)
		must(w.KeepBlob(w.ctx, c.Event.Event, digest, time.Hour))(w)
		w.changed(c, core.Changes{Session: w.session(c, 0, "I attach my notes")})
		w.prune()
		w.blob("notes", true)
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.blob("notes", false)
	}},
	{"a message that is tried again has its images, or is read anew", func(w *world) {
		for _, pruned := range []bool{false, true} {
			seq := w.message(conversation)
			c := w.take(seq, minute)
			w.ok(w.KeepFetched(w.ctx, c, w.picture(c.Event.Event, "cat")))
			w.done(c, core.Finish{End: core.End{Kind: core.EndErrored}})
			if pruned {
				w.prune()
			}
			r := must(w.Retry(w.ctx, seq))(w)
			w.prune()
			w.blob("cat", !pruned)
			again := w.take(r.Seq, minute)
			w.equal("it has the message", again.Event.Fetched != nil, !pruned)
			w.done(again, core.Finish{})
			w.prune()
		}
	}},
	{"another attempt of a message replaces its image", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		rec := w.session(c, 0)
		h := rec.Messages.Append(w.picture(c.Event.Event, "cat"))
		rec.Messages = &h
		w.ok(w.SaveSession(w.ctx, c, rec))
		w.restart()
		c = w.take(seq, minute)
		w.changed(c, core.Changes{Session: w.session(c, 0, "no image")})
		w.prune()
		w.blob("cat", false)
	}},
	{"many may store and delete the same image at once", func(w *world) {
		w.message(conversation)
		c := w.claim(minute)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, err := w.PutBlob(w.ctx, c.Event.Event, []byte("cat")); err != nil {
					w.Errorf("storing: %v", err)
				}
			})
			all.Go(func() {
				if err := w.DeleteSession(w.ctx, other.Session(1)); err != nil {
					w.Errorf("deleting: %v", err)
				}
				if _, err := w.Prune(w.ctx, minute); err != nil {
					w.Errorf("pruning: %v", err)
				}
			})
		}
		all.Wait()
		w.blob("cat", true)
	}},
}
