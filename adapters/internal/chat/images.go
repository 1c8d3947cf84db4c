package chat

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
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
	maxImageBytes   = 5 << 20 // the most that model vendors accept
	maxImages       = 8       // per message
	maxMessageBytes = 8 << 20 // of a message's images together
	maxRedirects    = 3
)

// slots limits how many images this process holds in memory, whatever the number of people who send some: from the request for an image
// until it is stored.
var slots = make(chan struct{}, 4)

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

// PutBlob stores the bytes of an image that came with an event, and returns their digest.
type PutBlob func(ctx context.Context, e core.Event, data []byte) (digest string, err error)

// Images fetches images from a platform's own hosts, and from nowhere else, and stores them.
type Images struct {
	Put        PutBlob
	Event      core.Event // the one that the images come with
	Title      string     // of the platform, in errors
	Client     *http.Client
	Header     http.Header // added to each request; nil: nothing
	APIURL     string      // the configured address of the platform: its host is one of the platform's own
	OwnHost    func(host string) bool
	Refused    error // returned if the platform refuses the file
	Redirected error // returned if it redirects to a foreign host
}

// Files reads a message's files. It returns the images as blocks, and for each other file its name with the reason why it was not read.
// get fetches and stores one image of at most limit bytes. Error: one of get's that another attempt may not meet.
func Files(ctx context.Context, files []File, get func(ctx context.Context, f File, limit int64) (core.Block, error)) (images []core.Block, unread []string, err error) {
	left := int64(maxMessageBytes)
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
			why = tooLarge(maxImageBytes)
		case f.Size > float64(left):
			why = tooLarge(left)
		default:
			image, err := get(ctx, f, min(left, maxImageBytes))
			switch {
			case err != nil && core.BucketOf(core.CategoryOf(err)) != core.UserCorrectable:
				return nil, nil, err
			case err != nil:
				why = core.MessageOf(err)
			default:
				images = append(images, image)
				left -= image.Source.Size
			}
		}
		if why != "" {
			unread = append(unread, cmp.Or(Name(f.Name), Name(f.ID), "a file")+" ("+Name(why)+")")
		}
	}
	return images, unread, nil
}

// tooLarge is the reason why an image with more than limit bytes is not read.
func tooLarge(limit int64) string {
	if limit < maxImageBytes {
		return fmt.Sprintf("over the limit of %d MB for the images of one message", maxMessageBytes>>20)
	}
	return "too large"
}

var errForeignHost = errors.New("redirected to a foreign host")

// Fetch fetches one image of at most limit bytes and stores it. Error: provider_unavailable, or the store's, if another attempt may succeed;
// those of user-correctable categories are permanent.
func (i Images) Fetch(ctx context.Context, address string, limit int64) (core.Block, error) {
	if !i.own(address) {
		return core.Block{}, core.Errorf(core.NotAllowed, "it is not stored at %s", i.Title)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return core.Block{}, core.Errorf(core.Invalid, "its address can't be read")
	}
	maps.Copy(r.Header, i.Header)
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return core.Block{}, context.Cause(ctx)
	}
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
	if response.ContentLength > limit {
		return core.Block{}, core.Errorf(core.MessageTooLarge, "%s", tooLarge(limit))
	}
	var body bytes.Buffer
	body.Grow(int(max(response.ContentLength, 0)) + bytes.MinRead) // so that it need not grow by copying
	if _, err := body.ReadFrom(io.LimitReader(response.Body, limit+1)); err != nil {
		return core.Block{}, core.Wrap(core.ProviderUnavailable, WithoutURL(err), "%s did not send all of a file.", i.Title)
	}
	kind := http.DetectContentType(body.Bytes())
	switch {
	case int64(body.Len()) > limit:
		return core.Block{}, core.Errorf(core.MessageTooLarge, "%s", tooLarge(limit))
	case !slices.Contains(imageTypes, kind): // a sign-in page, for instance
		return core.Block{}, core.Errorf(core.NotAllowed, "it is not an image, or the bot may not read it")
	}
	digest, err := i.Put(ctx, i.Event, body.Bytes())
	if err != nil {
		return core.Block{}, err
	}
	return core.StoredImage(kind, digest, body.Len()), nil
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
