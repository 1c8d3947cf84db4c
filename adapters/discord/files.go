package discord

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

// Numbers of the images that are taken.
const (
	maxImage  = 5 << 20 // bytes; what model vendors take
	maxImages = 8       // of one message
)

// imageTypes are the images that models read.
var imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// files fetches the images; all others, and images that can't be had, are named. Its error is one that a later try may mend.
func (d *Discord) files(ctx context.Context, m saying) (images []core.Block, named []string, err error) {
	for _, f := range m.Attachments {
		kind, _, _ := strings.Cut(f.Mimetype, ";")
		why := ""
		switch {
		case !slices.Contains(imageTypes, kind):
			why = kind
			if why == "" {
				why = "of an unknown type"
			}
		case len(images) == maxImages:
			why = "too many images"
		case f.Size > maxImage:
			why = "too large"
		default:
			var image core.Block
			image, err = d.image(ctx, f)
			if errors.Is(err, errGone) {
				if m, err = d.anew(ctx, m); err == nil {
					image, err = d.image(ctx, m.attached(f))
				}
			}
			if core.CategoryOf(err) == core.ProviderUnavailable {
				return nil, nil, err
			}
			if err != nil {
				why = core.MessageOf(err)
			} else {
				images = append(images, image)
			}
		}
		if why != "" {
			named = append(named, nameLine(f.Name)+" ("+nameLine(why)+")")
		}
	}
	return images, named, nil
}

// anew gives a message with new addresses of its files: they are good for a day. Where it can't be read any more it is as it was.
func (d *Discord) anew(ctx context.Context, m saying) (saying, error) {
	if m.renewed || !isID(m.Channel) || !isID(m.ID) {
		return m, nil
	}
	var now saying
	err := d.call(ctx, http.MethodGet, messagesOf(m.Channel)+"/"+m.ID, nil, &now)
	switch core.CategoryOf(err) {
	case "":
		m.now = now.Attachments
	case core.DeliveryLater, core.DeliveryInDoubt, core.ProviderAuthentication:
		e := core.Wrap(core.ProviderUnavailable, err, "Discord can't be asked for a file now.")
		e.RetryAfter = core.RetryAfterOf(err)
		return m, e
	}
	m.renewed = true
	return m, nil
}

// attached gives a file with the address that it has now.
func (m saying) attached(f attachment) attachment {
	for _, other := range m.now {
		if other.ID == f.ID && f.ID != "" {
			f.URL = other.URL
		}
	}
	return f
}

// image fetches one image from Discord's own hosts. Its address is enough; no token goes along.
func (d *Discord) image(ctx context.Context, f attachment) (core.Block, error) {
	if !d.ownHost(f.URL) {
		return core.Block{}, core.Errorf(core.NotAllowed, "it is not kept at Discord")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL, nil)
	if err != nil {
		return core.Block{}, core.Errorf(core.Invalid, "its address can't be read")
	}
	answer, err := d.downloads().Do(r)
	if errors.Is(err, errForeignHost) {
		return core.Block{}, core.Errorf(core.NotAllowed, "it is not kept at Discord")
	}
	if err != nil {
		return core.Block{}, core.Wrap(core.ProviderUnavailable, bare(err), "Discord can't be asked for a file now.")
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= http.StatusInternalServerError:
		return core.Block{}, core.Errorf(core.ProviderUnavailable, "Discord can't be asked for a file now (%d).", answer.StatusCode)
	case answer.StatusCode != http.StatusOK:
		return core.Block{}, errGone
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxImage+1))
	if err != nil {
		return core.Block{}, core.Wrap(core.ProviderUnavailable, err, "Discord stopped in the middle of a file.")
	}
	kind := http.DetectContentType(data)
	switch {
	case len(data) > maxImage:
		return core.Block{}, core.Errorf(core.MessageTooLarge, "too large")
	case !slices.Contains(imageTypes, kind):
		return core.Block{}, core.Errorf(core.NotAllowed, "it is no image")
	}
	return core.Block{Type: core.ImageBlock, MediaType: kind, Source: &core.ImageSource{Type: "inline", Base64Data: base64.StdEncoding.EncodeToString(data)}}, nil
}

// errGone is of a file that was deleted, or whose address has run out.
var errGone = core.Errorf(core.NotAllowed, "it is not there any more")

var errForeignHost = errors.New("redirected away from Discord")

// downloads is a client that follows no redirect away from Discord's hosts.
func (d *Discord) downloads() *http.Client {
	c := *d.out.rest.http
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > 3 || !d.ownHost(r.URL.String()) {
			return errForeignHost
		}
		return nil
	}
	return &c
}

// fileHosts are where Discord keeps what people send along.
var fileHosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// ownHost reports an address where Discord keeps files, or where DISCORD_API_URL says that Discord is.
func (d *Discord) ownHost(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if configured, err := url.Parse(d.Config.APIURL); err == nil && u.Scheme == configured.Scheme && u.Host == configured.Host {
		return true
	}
	return u.Scheme == "https" && u.Port() == "" && slices.Contains(fileHosts, u.Hostname())
}
