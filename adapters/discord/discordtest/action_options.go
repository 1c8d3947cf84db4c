package discordtest

import (
	"crypto/ed25519"
	"time"
)

// ActionOption says how something is said or sent: as a reply, with files, twice, badly signed. People's actions take any number.
type ActionOption func(*actionOptions)

type actionOptions struct {
	reply   string
	noPing  bool
	files   []Attachment
	embeds  []object
	noEvent bool
	copies  int

	options map[string]any

	key         ed25519.PrivateKey
	unsigned    bool
	tampered    bool
	signedAt    time.Time
	timestamp   *string
	body        []byte
	contentType string
	method      string
	without     []string
	urlOnce     string
}

func (h actionOptions) with(options []ActionOption) actionOptions {
	for _, change := range options {
		change(&h)
	}
	return h
}

// ReplyTo says it as a reply to a message, which mentions its author.
func ReplyTo(message string) ActionOption { return func(h *actionOptions) { h.reply = message } }

// WithoutPing keeps a reply from mentioning the author that it replies to.
func WithoutPing() ActionOption { return func(h *actionOptions) { h.noPing = true } }

// WithFiles hangs files on the message.
func WithFiles(files ...Attachment) ActionOption {
	return func(h *actionOptions) { h.files = append(h.files, files...) }
}

// WithEmbeds hangs embeds on the message, as a bot can.
func WithEmbeds(embeds ...map[string]any) ActionOption {
	return func(h *actionOptions) { h.embeds = append(h.embeds, embeds...) }
}

// WithoutEvent makes it happen without an event to the app.
func WithoutEvent() ActionOption { return func(h *actionOptions) { h.noEvent = true } }

// Twice sends the app each event two times.
func Twice() ActionOption { return func(h *actionOptions) { h.copies = 2 } }

// WithOption fills in an option of a command by its name.
func WithOption(name string, value any) ActionOption {
	return func(h *actionOptions) {
		if h.options == nil {
			h.options = map[string]any{}
		}
		h.options[name] = value
	}
}

// SignedWith signs the request with another key.
func SignedWith(key ed25519.PrivateKey) ActionOption { return func(h *actionOptions) { h.key = key } }

// SignedAt dates the request, for one that is too old or comes from the future.
func SignedAt(at time.Time) ActionOption { return func(h *actionOptions) { h.signedAt = at } }

// WithTimestamp writes any text in place of the timestamp, rightly signed.
func WithTimestamp(text string) ActionOption { return func(h *actionOptions) { h.timestamp = &text } }

// Unsigned sends the request without the headers of a signature.
func Unsigned() ActionOption { return func(h *actionOptions) { h.unsigned = true } }

// Tampered changes the body after it was signed.
func Tampered() ActionOption { return func(h *actionOptions) { h.tampered = true } }

// WithBody sends these bytes, rightly signed, in place of the body.
func WithBody(body []byte) ActionOption { return func(h *actionOptions) { h.body = body } }

// WithContentType names another content type.
func WithContentType(kind string) ActionOption {
	return func(h *actionOptions) { h.contentType = kind }
}

// WithMethod sends it by another method than POST.
func WithMethod(method string) ActionOption { return func(h *actionOptions) { h.method = method } }

// WithoutHeader leaves a header out.
func WithoutHeader(name string) ActionOption {
	return func(h *actionOptions) { h.without = append(h.without, name) }
}

// SentTo sends this one interaction to another URL.
func SentTo(url string) ActionOption { return func(h *actionOptions) { h.urlOnce = url } }
