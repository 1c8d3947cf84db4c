package chat

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
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
			unread = append(unread, f.called()+" ("+Name(why)+")")
		}
	}
	return images, unread, nil
}

// called returns the name of a file for the agent.
func (f File) called() string {
	for _, name := range []string{Name(f.Name), Name(f.ID)} {
		if name != "" {
			return name
		}
	}
	return "a file"
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
	for key, values := range i.Header {
		r.Header[key] = values
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
