package openharness

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// response answers with directives.
func (c *call) response(all ...wire.Directive) wire.Response {
	a := wire.New(c.request)
	a.Body = wire.Body{Status: wire.Success, Directives: append([]wire.Directive{}, all...)}
	return a
}

// reply answers with what was said because of an event. The steps of a turn and the person's own words are for streams
// only.
func (c *call) reply(ctx context.Context, ev core.EventRecord, mail []core.Mail) (r wire.Response, err error) {
	var all []wire.Directive
	for _, m := range mail {
		p, err := readPost(m)
		if err != nil {
			return r, err
		}
		if p.Kind == core.PostSteps || p.Kind == kindSaid {
			continue
		}
		d, err := c.directive(ctx, m, p)
		if err != nil {
			return r, err
		}
		all = announce(all, d)
	}
	if r = c.response(all...); errored(ev) {
		r = failed(r, ev)
	}
	return r, nil
}

func readPost(m core.Mail) (p storedPost, err error) {
	if err := json.Unmarshal(m.Content, &p); err != nil {
		return p, core.Wrap(core.Internal, err, "A stored reply can't be read.")
	}
	return p, nil
}

// announce adds a directive. A card follows a message, for Shells that can't draw cards.
func announce(all []wire.Directive, d wire.Directive) []wire.Directive {
	if d.ActionType != render && (len(all) == 0 || all[len(all)-1].ActionType != render) {
		all = append(all, said(d.Payload["message"], map[string]any{"kind": "announcement"}))
	}
	return append(all, d)
}

// render is the type of a directive that shows a text.
const render = "render_message"

// said is a directive that shows a text.
func said(text any, about map[string]any) wire.Directive {
	return wire.Directive{
		ActionType: render, Payload: map[string]any{"text": text, "message": text}, Extensions: vendor(about),
	}
}

// directive draws one mail for its reader. Every directive has a portable message, which any Shell can show.
func (c *call) directive(ctx context.Context, m core.Mail, p storedPost) (wire.Directive, error) {
	about := map[string]any{
		"id": m.Key, "seq": strconv.FormatInt(m.Seq, 10), "kind": string(p.Kind),
		"at": m.At.UTC().Format(time.RFC3339Nano),
	}
	if p.Late {
		about["late"] = true
	}
	if c.deltas && m.Event != 0 {
		about["turn"] = strconv.FormatInt(m.Event, 10) // of the deltas that this takes the place of
	}
	if p.Kind == core.PostCard {
		return c.card(ctx, p, about, false)
	}
	text := safetext.Clean(p.Text)
	d := said(text, about)
	switch p.Kind {
	case core.PostSteps:
		d.ActionType = wire.Namespace + ".steps"
	case kindSaid:
		d.ActionType = wire.Namespace + ".said"
		about["request_id"] = p.Request
	case core.PostReply:
		if c.html {
			about["html"] = markup.HTML(doc.Parse(text))
		}
	case core.PostError:
		about["bucket"] = string(p.Bucket)
		if a, label := c.mending(p.Bucket); a != "" && !p.Pressed && m.Event != 0 {
			about["actions"] = []map[string]any{c.button(label, "", mend(a, m.Event))}
		}
	}
	return d, nil
}

// mending is what the button below the reply to a failed event does, by the event's bucket, and its label; "" for none.
func (c *call) mending(b core.Bucket) (a outbound.Action, label string) {
	switch b {
	case core.RetryableTransient:
		return actRetry, c.desk.ButtonTryAgain
	case core.SessionTerminating:
		return outbound.ActionNew, c.desk.ButtonStartNew
	}
	return "", ""
}

// mend is the token of such a button.
func mend(a outbound.Action, failed int64) token {
	return token{Action: a, Subject: strconv.FormatInt(failed, 10)}
}

// failed makes an answer that of a turn that failed: its code is the category, its message what the person shall read.
func failed(a wire.Response, ev core.EventRecord) wire.Response {
	bucket := bucketOf(ev)
	a.Body.Status = wire.Failure
	a.Body.Error = &wire.Error{
		Code: string(cmp.Or(ev.End.Category, core.Category(bucket))), Message: "The request failed.",
		Retryable: retryable(ev),
		Details:   map[string]any{"error_bucket": string(bucket)},
	}
	var others []wire.Directive
	for _, d := range a.Body.Directives {
		about, _ := d.Extensions[wire.Namespace].(map[string]any)
		if about["kind"] != string(core.PostError) {
			others = append(others, d)
			continue
		}
		a.Body.Error.Message, _ = d.Payload["message"].(string)
		a.Body.Extensions = d.Extensions
	}
	a.Body.Directives = others
	return a
}
