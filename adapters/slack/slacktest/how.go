package slacktest

import "time"

// How says how something is said or sent: in a thread, with files, twice, badly signed. People's actions and [Server.Send] take any number.
type How func(*how)

type how struct {
	thread     string
	broadcast  bool
	files      []File
	blocks     []Block
	botMessage bool
	quiet      bool
	only       string

	copies      int
	atOnce      bool
	team        string
	app         string
	secret      string
	unsigned    bool
	spoiled     bool
	at          time.Time
	body        []byte
	retryNum    int
	retryReason string
	contentType string
}

func (h how) with(hows []How) how {
	for _, change := range hows {
		change(&h)
	}
	return h
}

// InThread says it in the thread of a message.
func InThread(ts string) How { return func(h *how) { h.thread = ts } }

// AlsoInChannel shows a reply in the channel too.
func AlsoInChannel() How { return func(h *how) { h.broadcast = true } }

// WithFiles hangs files on the message, which makes it a file_share.
func WithFiles(files ...File) How { return func(h *how) { h.files = append(h.files, files...) } }

// WithBlocks gives the message blocks of its own.
func WithBlocks(blocks ...Block) How { return func(h *how) { h.blocks = append(h.blocks, blocks...) } }

// AsBotMessage makes the post of a bot one of the old kind: subtype bot_message, no user.
func AsBotMessage() How { return func(h *how) { h.botMessage = true } }

// Unheard makes it happen without the app being told.
func Unheard() How { return func(h *how) { h.quiet = true } }

// OnlyEvent tells the app of it by events of one type alone, such as app_mention without the message.
func OnlyEvent(kind string) How { return func(h *how) { h.only = kind } }

// Twice delivers each event two times with the same event id, the second marked as a retry, although the first was acknowledged.
func Twice() How { return TimesOver(2) }

// TwiceAtOnce delivers each event two times at the same time, as when a retry meets a slow first try.
func TwiceAtOnce() How { return func(h *how) { h.atOnce = true } }

// TimesOver delivers each event so many times.
func TimesOver(n int) How { return func(h *how) { h.copies = n } }

// FromTeam names another workspace in the envelope.
func FromTeam(id string) How { return func(h *how) { h.team = id } }

// FromApp names another app in the envelope.
func FromApp(id string) How { return func(h *how) { h.app = id } }

// SignedWith signs the request with another secret.
func SignedWith(secret string) How { return func(h *how) { h.secret = secret } }

// SignedAt dates the request, for one that is too old or comes from the future.
func SignedAt(at time.Time) How { return func(h *how) { h.at = at } }

// Unsigned sends the request without the headers of a signature.
func Unsigned() How { return func(h *how) { h.unsigned = true } }

// Tampered changes the body after it was signed.
func Tampered() How { return func(h *how) { h.spoiled = true } }

// WithBody sends these bytes, rightly signed, in place of the body.
func WithBody(body []byte) How { return func(h *how) { h.body = body } }

// WithContentType names another content type.
func WithContentType(kind string) How { return func(h *how) { h.contentType = kind } }

// AsRetry marks the first try as a retry already.
func AsRetry(num int, reason string) How {
	return func(h *how) { h.retryNum, h.retryReason = num, reason }
}
