package discord

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"gatehouse/core"
)

// knownThreads is how many threads are remembered to be there.
const knownThreads = 10_000

// threads remembers which threads are there, and which could not be opened, so that their answers stand in the channel.
type threads struct {
	mu    sync.Mutex
	there map[string]bool // by id; false: it could not be opened
}

func newThreads() *threads { return &threads{there: map[string]bool{}} }

func (t *threads) know(id string) (there, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	there, known = t.there[id]
	return there, known
}

func (t *threads) learn(id string, there bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.there) >= knownThreads {
		clear(t.there)
	}
	t.there[id] = there
}

// forget has a thread looked for again.
func (t *threads) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.there, id)
}

// place is the channel that a post goes to. A thread that begins with the message that is answered may not be there yet: then it is
// opened. Where it can't be, the answer stands in the channel as a reply to that message.
func (d *Discord) place(ctx context.Context, to core.Address) (channel, answered string, err error) {
	if !begins(to) {
		return placeOf(to), "", nil
	}
	there, known := d.out.threads.know(to.Thread)
	if !known {
		if there, err = d.openThread(ctx, to); err != nil {
			return "", "", err
		}
		d.out.threads.learn(to.Thread, there)
	}
	if there {
		return to.Thread, "", nil
	}
	return to.Channel, to.Message, nil
}

// placeOf is where an address is, as far as it is there.
func placeOf(to core.Address) string {
	if to.Thread != "" {
		return to.Thread
	}
	return to.Channel
}

// begins reports an address whose thread begins with the message that is answered. Such a thread has the message's id.
func begins(to core.Address) bool {
	return to.Thread != "" && to.Thread == to.Message && to.Channel != "" && to.Channel != to.Thread
}

// openThread opens the thread of a message, and reports whether it is there.
func (d *Discord) openThread(ctx context.Context, to core.Address) (there bool, err error) {
	path := messagesOf(to.Channel) + "/" + to.Message
	var m sent // its text names the thread; where it can't be read the thread has another name
	if err := d.call(ctx, http.MethodGet, path, nil, &m); core.CategoryOf(err) == core.DeliveryLater {
		return false, err
	}
	open := func(name string) error {
		return d.call(ctx, http.MethodPost, path+"/threads", map[string]any{"name": name}, nil)
	}
	err = open(topic(m.Content))
	if isRefusal(err, codeInvalidForm) { // some servers allow no name with certain words
		err = open(noTopic)
	}
	switch core.CategoryOf(err) {
	case "":
		return true, nil
	case core.DeliveryLater, core.ProviderAuthentication, core.DeliveryInDoubt: // one that is there by now is found to be
		return false, core.Wrap(core.DeliveryLater, err, "%s", core.MessageOf(err))
	}
	if isRefusal(err, codeThreadExists) {
		return true, nil
	}
	if isRefusal(err, codeUnknownMessage) { // its thread outlives it
		switch err := d.call(ctx, http.MethodGet, "/channels/"+to.Thread, nil, nil); core.CategoryOf(err) {
		case "":
			return true, nil
		case core.DeliveryLater, core.ProviderAuthentication, core.DeliveryInDoubt:
			return false, core.Wrap(core.DeliveryLater, err, "%s", core.MessageOf(err))
		}
	}
	d.Log.Info("a thread could not be opened; the answer stands in the channel", "channel", to.Channel, "err", err)
	return false, nil
}

// noTopic is the name of a thread whose message gives none.
const noTopic = "Conversation"

// topic makes a short name for a thread of the message that it begins with, without whom the message calls.
func topic(text string) string {
	text = oneLine(tokens.ReplaceAllString(clean(text), " "))
	text = strings.TrimLeft(text, ",:;.!?- ")
	name, left := head(text, maxTopic)
	if left > 0 {
		if end := strings.LastIndexByte(name, ' '); end > maxTopic/2 {
			name = name[:end]
		}
		name += "…"
	}
	if name = strings.TrimSpace(name); name == "" {
		return noTopic
	}
	return name
}
