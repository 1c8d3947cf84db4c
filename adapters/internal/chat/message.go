package chat

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gatehouse/core"
)

// Limits of images.
const (
	maxImageBytes = 5 << 20 // the most that model vendors accept
	maxImages     = 8       // per message
	maxRedirects  = 3
)

// imageTypes are the images that models read.
var imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// File is a file attached to a message.
type File struct {
	ID   string
	Name string
	Type string // its media type
	Size float64
	URL  string
}

// Images fetches images from a platform's own hosts, and from nowhere else.
type Images struct {
	Title      string // of the platform, in errors
	Client     *http.Client
	Header     http.Header // added to each request; nil: nothing
	APIURL     string      // the configured address of the platform: its host is one of the platform's own
	OwnHost    func(host string) bool
	Refused    error // returned if the platform refuses the file
	Redirected error // returned if it redirects to a foreign host
}

// Files reads a message's files. It returns the images as blocks, and for each other file its name with the reason why it was not read.
// get fetches one image. Error: provider_unavailable if another attempt may succeed.
func Files(ctx context.Context, files []File, get func(context.Context, File) (core.Block, error)) (images []core.Block, unread []string, err error) {
	for _, f := range files {
		why := ""
		switch kind, _, _ := strings.Cut(f.Type, ";"); {
		case kind == "":
			why = "of an unknown type"
		case !slices.Contains(imageTypes, kind):
			why = kind
		case len(images) == maxImages:
			why = "too many images"
		case f.Size > maxImageBytes:
			why = "too large"
		default:
			image, err := get(ctx, f)
			switch {
			case core.CategoryOf(err) == core.ProviderUnavailable:
				return nil, nil, err
			case err != nil:
				why = core.MessageOf(err)
			default:
				images = append(images, image)
			}
		}
		if why != "" {
			unread = append(unread, cmp.Or(Name(f.Name), Name(f.ID), "a file")+" ("+Name(why)+")")
		}
	}
	return images, unread, nil
}

var errForeignHost = errors.New("redirected to a foreign host")

// Fetch fetches one image. Error: provider_unavailable if another attempt may succeed; any other error is permanent.
func (i Images) Fetch(ctx context.Context, address string) (core.Block, error) {
	if !i.own(address) {
		return core.Block{}, core.Errorf(core.NotAllowed, "it is not stored at %s", i.Title)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return core.Block{}, core.Errorf(core.Invalid, "its address can't be read")
	}
	maps.Copy(r.Header, i.Header)
	response, err := i.client().Do(r)
	switch {
	case errors.Is(err, errForeignHost):
		return core.Block{}, i.Redirected
	case err != nil:
		return core.Block{}, core.Wrap(core.ProviderUnavailable, WithoutURL(err), "%s can't be asked for a file now.", i.Title)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError:
		return core.Block{}, core.Errorf(core.ProviderUnavailable, "%s can't be asked for a file now (%d).", i.Title, response.StatusCode)
	case response.StatusCode != http.StatusOK:
		return core.Block{}, i.Refused
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxImageBytes+1))
	if err != nil {
		return core.Block{}, core.Wrap(core.ProviderUnavailable, WithoutURL(err), "%s did not send all of a file.", i.Title)
	}
	kind := http.DetectContentType(data)
	switch {
	case len(data) > maxImageBytes:
		return core.Block{}, core.Errorf(core.MessageTooLarge, "too large")
	case !slices.Contains(imageTypes, kind): // a sign-in page, for instance
		return core.Block{}, core.Errorf(core.NotAllowed, "it is not an image, or the bot may not read it")
	}
	return core.Block{Type: core.ImageBlock, MediaType: kind, Source: &core.ImageSource{Type: "inline", Base64Data: base64.StdEncoding.EncodeToString(data)}}, nil
}

// client returns a client that follows no redirect to a foreign host, which would receive the token.
func (i Images) client() *http.Client {
	c := *i.Client
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || !i.own(r.URL.String()) {
			return errForeignHost
		}
		return nil
	}
	return &c
}

// own reports whether an address is on one of the platform's hosts, or on the host of its configured address.
func (i Images) own(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if configured, err := url.Parse(i.APIURL); err == nil && u.Scheme == configured.Scheme && u.Host == configured.Host {
		return true
	}
	return u.Scheme == "https" && u.Port() == "" && i.OwnHost(u.Hostname())
}

// UserMessage returns a person's message as the agent reads it: the speaker ("" if the conversation has only one person), the images, and
// the text, which ends with the names of the files that were not read. Error: chat_message_shape_invalid if the message is empty.
func UserMessage(speaker, text string, images []core.Block, unread []string) (*core.Message, error) {
	if len(unread) > 0 {
		text = strings.TrimSpace(text + "\n[attached files that can't be read: " + strings.Join(unread, ", ") + "]")
	}
	if text == "" && len(images) == 0 {
		return nil, core.Errorf(core.ChatMessageShapeInvalid, "There is nothing to answer in that message. Write what you would like after mentioning me.")
	}
	m := core.Message{Role: core.User, Content: core.Text(text)}
	if speaker != "" || len(images) > 0 {
		var blocks []core.Block
		if speaker != "" {
			blocks = append(blocks, core.Block{Type: core.TextBlock, Text: speaker + " says:"})
		}
		blocks = append(blocks, images...)
		if text != "" {
			blocks = append(blocks, core.Block{Type: core.TextBlock, Text: text})
		}
		m.Content = core.Blocks(blocks...)
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return &m, nil
}

// Standing returns a sentence with the state of a decided approval, for a person who pressed a button too late.
func Standing(platform string, c core.Card) string {
	a := core.Approval{State: c.State, DecidedBy: core.Actor{Name: strings.TrimPrefix(c.DecidedBy, platform+":")}, DecidedAt: c.DecidedAt}
	return a.StateSentence()
}
