package discord

import (
	"context"
	"net/http"
	"strings"

	"gatehouse/core"
)

// tellTries is how often a word is tried where somebody pressed before it becomes a direct message.
const tellTries = 4

// tell says something to one person: where they pressed, for their eyes alone, as long as the interaction lasts (15 minutes); after that,
// and where there was none, in direct messages.
func (d *Discord) tell(ctx context.Context, delivery core.Delivery, m drawn) (core.Ref, error) {
	app, token, ok := interactionOf(delivery.To)
	if ok {
		out := d.out.paint.outgoing(delivery, m)
		out.Flags |= flagEphemeral
		var made sent
		path := "/webhooks/" + app + "/" + token + "?wait=true"
		err := d.call(ctx, http.MethodPost, path, out, &made)
		for try := 1; try < tellTries && isRefusal(err, codeUnknownWebhook) && ctx.Err() == nil; try++ { // the press itself may not be answered yet
			d.sleep(ctx, followEarly)
			err = d.call(ctx, http.MethodPost, path, out, &made)
		}
		if err == nil {
			return refOf(delivery.To.Channel, made.ID), nil
		}
		if !isRefusal(err, codeBadWebhookToken, codeUnknownWebhook, codeUnknownInteraction) {
			return "", sendFault(err)
		}
	}
	user, ok := strings.CutPrefix(delivery.Person, Name+":")
	if !ok || !isSnowflake(user) {
		return "", core.Errorf(core.DeliveryFailed, "The word was for %q, who is nobody on Discord.", delivery.Person)
	}
	channel, err := d.directTo(ctx, user)
	if err != nil {
		return "", sendFault(notSent(err))
	}
	return d.post(ctx, channel, "", delivery, m)
}

// notSent is an error of what was done before a send: nothing was sent, so it can be tried again.
func notSent(err error) error {
	if core.CategoryOf(err) == core.DeliveryInDoubt {
		return core.Wrap(core.DeliveryLater, err, "%s", core.MessageOf(err))
	}
	return err
}

// interactionOf reads an address whose message is an interaction.
func interactionOf(to core.Address) (app, token string, ok bool) {
	rest, ok := strings.CutPrefix(to.Message, interactionPrefix)
	if !ok {
		return "", "", false
	}
	return tokenOf(rest)
}

// tokenOf reads an interaction's application and token.
func tokenOf(text string) (app, token string, ok bool) {
	app, token, ok = strings.Cut(text, "/")
	return app, token, ok && isSnowflake(app) && token != "" && !strings.ContainsAny(token, "/?#%")
}
