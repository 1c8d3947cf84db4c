package discordtest

import (
	"crypto/ed25519"
	"time"
)

// How says how something is said or sent: as a reply, with files, twice, badly signed. People's actions take any number.
type How func(*how)

type how struct {
	reply  string
	noPing bool
	files  []Attachment
	embeds []object
	quiet  bool
	copies int

	options map[string]any

	key         ed25519.PrivateKey
	unsigned    bool
	spoiled     bool
	stampAt     time.Time
	stampText   *string
	body        []byte
	contentType string
	method      string
	without     []string
	urlOnce     string
}

func (h how) with(hows []How) how {
	for _, change := range hows {
		change(&h)
	}
	return h
}

// ReplyTo says it as a reply to a message, which mentions its author.
func ReplyTo(message string) How { return func(h *how) { h.reply = message } }

// WithoutPing keeps a reply from mentioning the author that it replies to.
func WithoutPing() How { return func(h *how) { h.noPing = true } }

// WithFiles hangs files on the message.
func WithFiles(files ...Attachment) How {
	return func(h *how) { h.files = append(h.files, files...) }
}

// WithEmbeds hangs embeds on the message, as a bot can.
func WithEmbeds(embeds ...map[string]any) How {
	return func(h *how) { h.embeds = append(h.embeds, embeds...) }
}

// Unheard makes it happen without the app being told.
func Unheard() How { return func(h *how) { h.quiet = true } }

// Twice tells the app of it two times.
func Twice() How { return func(h *how) { h.copies = 2 } }

// WithOption fills in an option of a command by its name.
func WithOption(name string, value any) How {
	return func(h *how) {
		if h.options == nil {
			h.options = map[string]any{}
		}
		h.options[name] = value
	}
}

// SignedWith signs the request with another key.
func SignedWith(key ed25519.PrivateKey) How { return func(h *how) { h.key = key } }

// SignedAt dates the request, for one that is too old or comes from the future.
func SignedAt(at time.Time) How { return func(h *how) { h.stampAt = at } }

// StampedAs writes any word in place of the timestamp, rightly signed.
func StampedAs(text string) How { return func(h *how) { h.stampText = &text } }

// Unsigned sends the request without the headers of a signature.
func Unsigned() How { return func(h *how) { h.unsigned = true } }

// Tampered changes the body after it was signed.
func Tampered() How { return func(h *how) { h.spoiled = true } }

// WithBody sends these bytes, rightly signed, in place of the body.
func WithBody(body []byte) How { return func(h *how) { h.body = body } }

// WithContentType names another content type.
func WithContentType(kind string) How { return func(h *how) { h.contentType = kind } }

// WithMethod sends it by another method than POST.
func WithMethod(method string) How { return func(h *how) { h.method = method } }

// WithoutHeader leaves a header out.
func WithoutHeader(name string) How { return func(h *how) { h.without = append(h.without, name) } }

// SentTo sends this one interaction to another URL.
func SentTo(url string) How { return func(h *how) { h.urlOnce = url } }
