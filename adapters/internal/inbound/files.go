package inbound

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Limits of the files of a message.
const (
	maxImageBytes  = 5 << 20   // the most that model vendors accept
	maxImages      = 8         // per message
	maxImagesBytes = 8 << 20   // of a message's images together
	maxTextBytes   = 128 << 10 // of a text file; more is left out, with its size
	maxTexts       = 8         // per message
	maxTextsBytes  = 256 << 10 // of a message's text files together
)

// imageTypes are the images that models read.
var imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// textTypes are the text files whose media type does not say so.
var textTypes = []string{
	"application/json", "application/x-ndjson", "application/xml", "application/yaml", "application/x-yaml",
	"application/toml", "application/csv", "application/sql", "application/javascript", "application/x-javascript",
	"application/typescript", "application/x-sh", "application/x-httpd-php", "image/svg+xml",
}

// textNames end the names of text files that are often declared to be something else, such as .ts to be a film.
var textNames = []string{
	".txt", ".csv", ".md", ".log", ".sql", ".ts", ".mts", ".cts", ".lua", ".pl", ".php", ".bat", ".tex", ".srt",
	".properties", ".patch", ".diff",
}

// imprecise are declared types that don't say what a file is.
var imprecise = []string{
	"application/octet-stream", "binary/octet-stream", "image/jpg", "image/pjpeg", "image/x-png", "image/apng",
}

// File is a file attached to a message.
type File struct {
	ID   string
	Name string
	Type string // its media type; "": its bytes tell what it is
	Size float64
	URL  string
	By   core.Speaker // who sent it
	Seen string       // its beginning, as the platform showed it: it stands for the file if that may not be fetched
	Said string       // what is said in a recording, as the platform wrote it down: it stands for the file
	Why  string       // why it can't be read, if that is known already

	images, texts int64 // how many bytes of an image, and of a text, are left for it; see Files
}

// Content is what was read of a file: an image, which is stored, or a text.
type Content struct {
	Image core.Block
	Text  string
	Left  int64 // how many bytes of the text were left out
}

func (f File) kind() string {
	kind, _, _ := strings.Cut(f.Type, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if f.isTextName() && !strings.HasPrefix(kind, "text/") || slices.Contains(imprecise, kind) {
		return "" // its bytes tell what it is
	}
	return kind
}

func (f File) isTextName() bool {
	name := strings.ToLower(f.Name)
	return slices.ContainsFunc(textNames, func(end string) bool { return strings.HasSuffix(name, end) })
}

func (f File) isImage() bool { return slices.Contains(imageTypes, f.kind()) }

func (f File) isText() bool {
	kind := f.kind()
	_, structured, _ := strings.Cut(kind, "+")
	return kind == "" && f.isTextName() || strings.HasPrefix(kind, "text/") || slices.Contains(textTypes, kind) ||
		slices.Contains([]string{"json", "xml", "yaml"}, structured)
}

// isPage reports whether a file is a web page, so that one that comes is no sign-in page.
func (f File) isPage() bool {
	name := strings.ToLower(f.Name)
	return f.kind() == "text/html" || strings.HasSuffix(name, ".html") || strings.HasSuffix(name, ".htm")
}

// most is how many bytes of the file are read.
func (f File) most() int64 {
	if f.isText() {
		return f.texts
	}
	return f.images
}

// Read is what was read of a message's files.
type Read struct {
	Images  []core.Block
	Texts   []core.Block     // quotations
	Spoken  []core.Quotation // recordings
	Unread  []string         // the names of the others, each with the reason
	Fetched bool             // the platform was asked for some of it
}

// Files reads a message's files: images, and texts, which are cut to the limits. get fetches one of them. Error: one of
// get's that another attempt may not meet.
func Files(
	ctx context.Context, files []File, get func(ctx context.Context, f File) (Content, error),
) (r Read, err error) {
	images, texts := int64(maxImagesBytes), int64(maxTextsBytes)
	for _, f := range files {
		f.images, f.texts = min(images, maxImageBytes), min(texts, maxTextBytes)
		why := f.refusal(len(r.Images), len(r.Texts))
		if why == "" && f.Said != "" {
			r.Spoken = append(r.Spoken, f.said())
			continue
		}
		var c Content
		if why == "" {
			if c, err = get(ctx, f); err != nil && core.BucketOf(core.CategoryOf(err)) != core.UserCorrectable {
				return Read{}, err
			}
			r.Fetched = true
		}
		switch {
		case err != nil && f.Seen != "":
			r.Texts = append(r.Texts, f.quoted(f.Seen+"\n[this is only its beginning: "+core.MessageOf(err)+"]"))
		case err != nil:
			why = core.MessageOf(err)
		case c.Image.Type != "":
			r.Images = append(r.Images, c.Image)
			images -= c.Image.Source.Size
		case why == "" && (len(r.Texts) == maxTexts || f.texts <= 0):
			why = tooMany
		case why == "":
			texts -= int64(len(c.Text))
			if c.Left > 0 {
				c.Text += fmt.Sprintf("\n[%s more bytes are left out]", safetext.Thousands(int(c.Left)))
			}
			r.Texts = append(r.Texts, f.quoted(c.Text))
		}
		if err = nil; why != "" {
			r.Unread = append(r.Unread, noBrackets.Replace(f.Called())+" ("+safetext.Name(why)+")")
		}
	}
	return r, nil
}

const tooMany = "too many files"

// noBrackets keeps the name of a file, which may be somebody else's, inside the brackets that Heard.Input puts around
// it.
var noBrackets = strings.NewReplacer("[", "(", "]", ")")

// refusal is why a file is not even asked for; "" if it is.
func (f File) refusal(images, texts int) string {
	switch {
	case f.Why != "" || f.Said != "":
		return f.Why
	case f.isText():
		if texts == maxTexts || f.texts <= 0 {
			return tooMany
		}
		return ""
	case f.kind() != "" && !f.isImage():
		return f.kind()
	case images == maxImages:
		return "too many images"
	case f.Size > float64(f.images):
		return core.MessageOf(f.tooLarge())
	}
	return ""
}

// tooLarge is the reason why an image, or a file of a type that is not known, is not read.
func (f File) tooLarge() error {
	if f.images < maxImageBytes {
		return core.Errorf(core.MessageTooLarge, "over the limit of %d MB for the images of one message",
			maxImagesBytes>>20)
	}
	return core.Errorf(core.MessageTooLarge, "too large")
}

// Called is the name of a file on one line.
func (f File) Called() string { return cmp.Or(safetext.Name(f.Name), safetext.Name(f.ID), "a file") }

// quoted is a file's text as the model is shown it.
func (f File) quoted(text string) core.Block {
	return core.Quote(core.Quotation{What: core.QuotedFile, File: f.Called(), Name: f.By.Name, ID: f.By.ID, Text: text})
}

// said is what is said in a recording.
func (f File) said() core.Quotation {
	return core.Quotation{
		What: "recording, as the platform wrote it down", File: f.Called(),
		Name: f.By.Name, ID: f.By.ID, Text: safetext.Clean(f.Said),
	}
}

var errSomethingElse = core.Errorf(core.NotAllowed, "it is something else, or the bot may not read it")

// MaxUpload is how many bytes a file may have that is sent to gatehouse itself.
const MaxUpload = maxImageBytes

// Uploaded reads a file of at most MaxUpload bytes that was sent to gatehouse itself: an image, which put stores, or
// a text. Error: not_allowed if it is neither, or put's.
func Uploaded(f File, data []byte, put func(data []byte) (digest string, err error)) (Content, error) {
	f.images, f.texts = maxImageBytes, maxTextBytes
	return f.content(data, int64(len(data)), put)
}

// content is what a file's bytes are: an image, which put stores, or a text. whole is how many the file has, of which
// data may be the beginning.
func (f File) content(data []byte, whole int64, put func(data []byte) (digest string, err error)) (Content, error) {
	kind, over := http.DetectContentType(data), int64(len(data)) > f.most()
	switch {
	case slices.Contains(imageTypes, kind) && !over:
		digest, err := put(data)
		if err != nil {
			return Content{}, err
		}
		return Content{Image: core.StoredImage(kind, digest, len(data))}, nil
	case over && !f.isText():
		return Content{}, f.tooLarge()
	case f.isImage():
		return Content{}, errSomethingElse
	case f.kind() != "" && !f.isText():
		return Content{}, core.Errorf(core.NotAllowed, "%s", f.kind())
	}
	return f.TextOf(data, whole)
}

// TextOf is what is read of a file's bytes; whole is how many the file has, of which data may be the beginning.
// Error: not_allowed if it is no text.
func (f File) TextOf(data []byte, whole int64) (Content, error) {
	over := max(0, int64(len(data))-f.texts)
	head := data[:int64(len(data))-over]
	text, ok := decoded(head, f.isText(), whole > int64(len(head)))
	if !ok {
		return Content{}, core.Errorf(core.NotAllowed, "%s", cmp.Or(f.kind(), "of an unknown type"))
	}
	return Content{Text: text, Left: max(0, whole-int64(len(head)))}, nil
}

// decoded returns bytes in UTF-8 or, with a mark at their beginning, UTF-16 as a text. A file that is declared to be a
// text may have some bytes that are none; in any other each must be valid. One that was cut may end within a character.
// A text has no control characters but white space and escapes.
func decoded(data []byte, declared, cut bool) (text string, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		wide := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()
		data, _ = wide.Bytes(data[:len(data)&^1]) // can't fail: what is no character becomes U+FFFD
		text = string(data)
	default:
		if text = strings.TrimPrefix(string(data), "\ufeff"); cut {
			text = wholeRunes(text)
		}
		if !declared && !utf8.ValidString(text) {
			return "", false
		}
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	if strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b\b", r)
	}) {
		return "", false
	}
	return text, true
}

// wholeRunes is a text without the beginning of a character that was cut at its end.
func wholeRunes(s string) string {
	for cut := 1; cut < utf8.UTFMax && cut <= len(s); cut++ {
		if tail := s[len(s)-cut:]; utf8.RuneStart(tail[0]) && !utf8.FullRuneInString(tail) {
			return s[:len(s)-cut]
		}
	}
	return s
}
