package discord

import (
	"context"
	"net/http"
	"strings"
	"time"

	"gatehouse/core"
)

// A command is answered once, where it was given: Discord is told at once that the answer comes, and what gatehouse has to say to it
// becomes that answer, for everybody's eyes or for the person's alone as was said at first; what more there is to say stands beside it.
// That goes on for 15 minutes: after that, and where Discord never heard that an answer was to come, it is a message like any other.

// commandPrefix begins an address's message that is a command which waits for its answer: its application, token and id follow.
const commandPrefix = "command:"

// awaiting is where a command's answer goes, "" where it can't be answered.
func (i interaction) awaiting() string {
	if !isID(i.App) || i.Token == "" {
		return ""
	}
	return commandPrefix + i.App + "/" + i.Token + "/" + i.ID
}

// answerLater says that the answer to a command comes.
func answerLater(flags int) response {
	return response{"type": answerLoading, "data": map[string]any{"flags": flags}}
}

// command is one that waits for its answer.
type command struct {
	path  string // of its answer
	given time.Time
}

// commandOf reads an address whose message is a command, if the post is one that answers it.
func commandOf(delivery core.Delivery) (c command, ok bool) {
	rest, ok := strings.CutPrefix(delivery.To.Message, commandPrefix)
	if !ok || delivery.Kind != core.PostNotice && delivery.Kind != core.PostError {
		return command{}, false
	}
	cut := strings.LastIndexByte(rest, '/')
	if cut < 0 || !isID(rest[cut+1:]) {
		return command{}, false
	}
	app, token, ok := tokenOf(rest[:cut])
	return command{path: "/webhooks/" + app + "/" + token + "/messages/@original", given: timeOfID(rest[cut+1:])}, ok
}

// answerGrace is how long a command may be unknown: its answer may be ready before Discord has heard that one comes.
const answerGrace = 10 * time.Second

// answer gives the answer to a command; late: it is too late, Discord waits for none, or the command has another answer already.
func (d *Discord) answer(ctx context.Context, c command, delivery core.Delivery, m drawn) (ref core.Ref, late bool, err error) {
	var now, made sent
	err = d.call(ctx, http.MethodGet, c.path, nil, &now)
	if err == nil && now.Flags&flagLoading == 0 && !d.out.paint.bears(now.Content, delivery, m) {
		return "", true, nil
	}
	if err == nil {
		err = d.call(ctx, http.MethodPatch, c.path, d.out.paint.outgoing(delivery, m), &made)
	} else {
		err = notSent(err)
	}
	switch {
	case err == nil && !isSnowflake(made.ID):
		return "", false, core.Errorf(core.DeliveryInDoubt, "Discord's answer does not say which message it made.")
	case err == nil:
		return refOf(placeOf(delivery.To), made.ID), false, nil
	case !isUnanswerable(err):
		return "", false, sendFault(err)
	}
	if age := d.Now().Sub(c.given); age < answerGrace && age > -clockSkew {
		return "", false, waitFor(firstRedial, "Discord does not know yet that the command's answer comes.")
	}
	return "", true, nil
}

// answered looks whether a post is its command's answer; late: it can't be told any more, or another one is.
func (d *Discord) answered(ctx context.Context, c command, delivery core.Delivery, m drawn) (ref core.Ref, late bool, err error) {
	var now sent
	err = d.call(ctx, http.MethodGet, c.path, nil, &now)
	switch {
	case isUnanswerable(err):
		return "", true, nil
	case err != nil:
		return "", false, err
	case d.out.paint.bears(now.Content, delivery, m):
		return refOf(placeOf(delivery.To), now.ID), false, nil
	}
	return "", now.Flags&flagLoading == 0, nil
}

// isUnanswerable reports Discord's refusals of an answer that is too late, too early, or that somebody has deleted.
func isUnanswerable(err error) bool {
	return isRefusal(err, codeBadWebhookToken, codeUnknownWebhook, codeUnknownInteraction, codeUnknownMessage)
}
