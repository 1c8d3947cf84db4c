package slacktest

import "time"

// ActionOption changes how something is posted or sent: in a thread, with files, twice, badly signed. People's actions and [Server.Send]
// take any number of them.
type ActionOption func(*actionOptions)

type actionOptions struct {
	thread     string
	broadcast  bool
	files      []File
	blocks     []Block
	botMessage bool
	noEvent    bool
	only       string

	copies      int
	atOnce      bool
	team        string
	app         string
	secret      string
	unsigned    bool
	tampered    bool
	at          time.Time
	body        []byte
	retryNum    int
	retryReason string
	contentType string
}

func (h actionOptions) with(options []ActionOption) actionOptions {
	for _, change := range options {
		change(&h)
	}
	return h
}

// InThread posts it in the thread of a message.
func InThread(ts string) ActionOption { return func(h *actionOptions) { h.thread = ts } }

// AlsoInChannel shows a reply in the channel too.
func AlsoInChannel() ActionOption { return func(h *actionOptions) { h.broadcast = true } }

// WithFiles attaches files to the message, which makes it a file_share.
func WithFiles(files ...File) ActionOption {
	return func(h *actionOptions) { h.files = append(h.files, files...) }
}

// WithBlocks gives the message blocks of its own.
func WithBlocks(blocks ...Block) ActionOption {
	return func(h *actionOptions) { h.blocks = append(h.blocks, blocks...) }
}

// AsBotMessage makes the post of a bot one of the old kind: subtype bot_message, no user.
func AsBotMessage() ActionOption { return func(h *actionOptions) { h.botMessage = true } }

// WithoutEvent makes it happen without an event to the app.
func WithoutEvent() ActionOption { return func(h *actionOptions) { h.noEvent = true } }

// OnlyEvent sends the app events of one type only, such as app_mention without the message.
func OnlyEvent(kind string) ActionOption { return func(h *actionOptions) { h.only = kind } }

// Twice delivers each event two times with the same event id, the second marked as a retry, although the first was acknowledged.
func Twice() ActionOption { return Copies(2) }

// TwiceAtOnce delivers each event two times at the same time, as when a retry overtakes a slow first try.
func TwiceAtOnce() ActionOption { return func(h *actionOptions) { h.atOnce = true } }

// Copies delivers each event n times.
func Copies(n int) ActionOption { return func(h *actionOptions) { h.copies = n } }

// FromTeam names another workspace in the envelope.
func FromTeam(id string) ActionOption { return func(h *actionOptions) { h.team = id } }

// FromApp names another app in the envelope.
func FromApp(id string) ActionOption { return func(h *actionOptions) { h.app = id } }

// SignedWith signs the request with another secret.
func SignedWith(secret string) ActionOption { return func(h *actionOptions) { h.secret = secret } }

// SignedAt dates the request, for one that is too old or comes from the future.
func SignedAt(at time.Time) ActionOption { return func(h *actionOptions) { h.at = at } }

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

// AsRetry marks the first try as a retry already.
func AsRetry(num int, reason string) ActionOption {
	return func(h *actionOptions) { h.retryNum, h.retryReason = num, reason }
}
