package discordtest

import (
	"crypto/ed25519"
	"time"
)

// ActionOption changes how an action is performed or sent: as a reply, with files, twice, with a bad signature. A
// Person's actions take any number of them.
type ActionOption func(*actionOptions)

type actionOptions struct {
	id      string
	reply   string
	noPing  bool
	files   []Attachment
	embeds  []object
	fields  object
	sent    object
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

// withID gives a message an id.
func withID(id string) ActionOption { return func(h *actionOptions) { h.id = id } }

// ReplyTo posts a reply to a message, which mentions its author.
func ReplyTo(message string) ActionOption { return func(h *actionOptions) { h.reply = message } }

// WithoutPing makes a reply not mention the author of the message that it answers.
func WithoutPing() ActionOption { return func(h *actionOptions) { h.noPing = true } }

// WithFiles attaches files to the message.
func WithFiles(files ...Attachment) ActionOption {
	return func(h *actionOptions) { h.files = append(h.files, files...) }
}

// WithEmbeds adds embeds to the message, as a bot can.
func WithEmbeds(embeds ...map[string]any) ActionOption {
	return func(h *actionOptions) { h.embeds = append(h.embeds, embeds...) }
}

// WithFields sets fields of the message as Discord sends them: its stickers, its poll, components, anything.
func WithFields(fields map[string]any) ActionOption {
	return func(h *actionOptions) { h.fields = fields }
}

// SentAs sends these fields of a message, its id among them, to the app, in place of those that the fake would send.
// Reading the message shows what it was posted with.
func SentAs(fields map[string]any) ActionOption { return func(h *actionOptions) { h.sent = fields } }

// WithoutEvent performs the action without sending an event to the app.
func WithoutEvent() ActionOption { return func(h *actionOptions) { h.noEvent = true } }

// Twice sends each event to the app twice.
func Twice() ActionOption { return func(h *actionOptions) { h.copies = 2 } }

// WithOption sets an option of a command by its name.
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

// SignedAt sets the request's timestamp, for one that is too old or in the future.
func SignedAt(at time.Time) ActionOption { return func(h *actionOptions) { h.signedAt = at } }

// WithTimestamp replaces the timestamp with any text; the signature is valid.
func WithTimestamp(text string) ActionOption { return func(h *actionOptions) { h.timestamp = &text } }

// Unsigned sends the request without signature headers.
func Unsigned() ActionOption { return func(h *actionOptions) { h.unsigned = true } }

// Tampered changes the body after it is signed.
func Tampered() ActionOption { return func(h *actionOptions) { h.tampered = true } }

// WithBody replaces the body; the signature is valid.
func WithBody(body []byte) ActionOption { return func(h *actionOptions) { h.body = body } }

// WithContentType sets another content type.
func WithContentType(kind string) ActionOption {
	return func(h *actionOptions) { h.contentType = kind }
}

// WithMethod sends the request with another method than POST.
func WithMethod(method string) ActionOption { return func(h *actionOptions) { h.method = method } }

// WithoutHeader omits a header.
func WithoutHeader(name string) ActionOption {
	return func(h *actionOptions) { h.without = append(h.without, name) }
}

// SentTo sends this one interaction to another URL.
func SentTo(url string) ActionOption { return func(h *actionOptions) { h.urlOnce = url } }
