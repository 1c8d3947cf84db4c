package discord

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"gatehouse/core"
)

// Numbers of a look for a message in doubt.
const (
	looks     = 1               // one look in vain is enough: a message that becomes readable late is kept from doubling by its nonce
	nonceTime = 3 * time.Minute // how long a nonce surely lasts; Discord says: some minutes
	clockSkew = 2 * time.Minute // how far our clock and Discord's may be apart
	pageSize  = 100             // the most that Discord takes
	pages     = 20
)

// Find looks for a part by its mark, among the bot's own messages in its conversation since the send. What only one person sees can't
// be read back.
func (d *Discord) Find(ctx context.Context, delivery core.Delivery) (core.Found, error) {
	if delivery.Kind == core.PostPrivate {
		return core.Found{}, core.Errorf(core.DeliveryInDoubt, "What was said to one person can't be read back.")
	}
	parts, err := d.parts(delivery)
	if err != nil {
		return core.Found{}, err
	}
	if delivery.Part >= len(parts) {
		return core.Found{}, core.Errorf(core.DeliveryFailed, "The post has no part %d.", delivery.Part+1)
	}
	more := delivery.Part+1 < len(parts)
	if c, ok := commandOf(delivery); ok {
		ref, late, err := d.answered(ctx, c, delivery, parts[delivery.Part])
		if !late {
			return core.Found{Ref: ref, More: more}, err
		}
	}
	places := []string{placeOf(delivery.To)}
	if begins(delivery.To) {
		places = append(places, delivery.To.Channel) // where it stands if the thread could not be opened
	}
	for _, channel := range places {
		id, err := d.lookIn(ctx, channel, delivery, parts[delivery.Part])
		if err != nil {
			return core.Found{}, err
		}
		if id != "" {
			return core.Found{Ref: refOf(channel, id), More: more}, nil
		}
	}
	return core.Found{Looks: looks}, nil
}

// lookIn looks for a part in a channel; "" where it is not there.
func (d *Discord) lookIn(ctx context.Context, channel string, delivery core.Delivery, m drawn) (string, error) {
	after := uint64(0)
	if !delivery.SentAt.IsZero() {
		after = snowflakeAt(delivery.SentAt.Add(-clockSkew))
	}
	for range pages {
		var found []sent
		err := d.call(ctx, http.MethodGet, fmt.Sprintf("%s?limit=%d&after=%d", messagesOf(channel), pageSize, after), nil, &found)
		if isRefusal(err, codeUnknownChannel) {
			return "", nil
		}
		if err != nil {
			return "", lookFault(err)
		}
		for _, one := range found {
			if one.Author.Bot && d.out.paint.bears(one.Content, delivery, m) {
				return one.ID, nil
			}
			if id, err := strconv.ParseUint(one.ID, 10, 64); err == nil {
				after = max(after, id)
			}
		}
		if len(found) < pageSize {
			return "", d.readable(ctx, channel, delivery, len(found))
		}
	}
	return "", core.Errorf(core.DeliveryInDoubt, "There are too many messages to look through.")
}

// lookFault is what an error of a look means to the outbox. Looking changes nothing: where Discord breaks down over it, or the token has
// to be mended, it is looked again later, for as long as that takes. What Discord will not tell stays in doubt.
func lookFault(err error) error { return sendFault(notSent(err)) }

// readable is nil where nothing was found because there is nothing. Without the permission to read the history Discord shows an empty
// one. That does no harm as long as the nonce lasts.
func (d *Discord) readable(ctx context.Context, channel string, delivery core.Delivery, found int) error {
	if found > 0 || d.Now().Sub(delivery.SentAt) < nonceTime {
		return nil
	}
	var any []sent
	if err := d.call(ctx, http.MethodGet, messagesOf(channel)+"?limit=1", nil, &any); err != nil {
		return lookFault(err)
	}
	if len(any) == 0 {
		return core.Errorf(core.DeliveryInDoubt, "The bot sees no messages where it posted. Give it the permission Read Message History there.")
	}
	return nil
}

// Discord's ids hold the time of what they name, in milliseconds since the beginning of 2015.
const (
	epoch = 1420070400000
	shift = 22
)

// snowflakeAt is the least id of a time.
func snowflakeAt(t time.Time) uint64 {
	return uint64(max(0, t.UnixMilli()-epoch)) << shift //nolint:gosec // it is not negative
}
