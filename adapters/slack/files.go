package slack

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gatehouse/core"
)

// file is what is read of a file that was sent along.
type file struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Mimetype string  `json:"mimetype"`
	Size     float64 `json:"size"`
	URL      string  `json:"url_private_download"`
	Private  string  `json:"url_private"`
}

// filesOf reads the files of a message, each by itself: one that can't be read is named, and the others are had.
func filesOf(sent json.RawMessage) []file {
	var raw []json.RawMessage
	_ = json.Unmarshal(sent, &raw)
	all := make([]file, len(raw))
	for i, r := range raw {
		if err := json.Unmarshal(r, &all[i]); err != nil {
			all[i] = file{}
		}
	}
	return all
}

// called is how a file is spoken of.
func (f file) called() string {
	for _, name := range []string{oneLine(f.Name), oneLine(f.ID)} {
		if name != "" {
			return name
		}
	}
	return "a file"
}

// Numbers of the images that are taken.
const (
	maxImage  = 5 << 20 // bytes; what model vendors take
	maxImages = 8       // of one message
)

// imageTypes are the images that models read.
var imageTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// files fetches the images; all others, and images that can't be had, are named. Its error is one that a later try may mend.
func (s *Slack) files(ctx context.Context, sent json.RawMessage) (images []core.Block, named []string, err error) {
	for _, f := range filesOf(sent) {
		why := ""
		switch {
		case f.Mimetype == "":
			why = "of an unknown kind"
		case !slices.Contains(imageTypes, f.Mimetype):
			why = f.Mimetype
		case len(images) == maxImages:
			why = "too many images"
		case f.Size > maxImage:
			why = "too large"
		default:
			var image core.Block
			image, err = s.image(ctx, f)
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
			named = append(named, f.called()+" ("+oneLine(why)+")")
		}
	}
	return images, named, nil
}

// image fetches one image with the bot's token, which goes to Slack's own hosts and nowhere else.
func (s *Slack) image(ctx context.Context, f file) (core.Block, error) {
	address := f.URL
	if address == "" {
		address = f.Private
	}
	if !s.ownHost(address) {
		return core.Block{}, core.Errorf(core.NotAllowed, "it is not kept at Slack")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return core.Block{}, core.Errorf(core.Invalid, "its address can't be read")
	}
	r.Header.Set("Authorization", "Bearer "+s.Config.BotToken)
	answer, err := s.downloads().Do(r)
	if errors.Is(err, errForeignHost) {
		return core.Block{}, core.Errorf(core.NotAllowed, "the bot may not read it; it needs the scope files:read")
	}
	if err != nil {
		return core.Block{}, core.Wrap(core.ProviderUnavailable, withoutAddress(err), "Slack can't be asked for a file now.")
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= http.StatusInternalServerError:
		return core.Block{}, core.Errorf(core.ProviderUnavailable, "Slack can't be asked for a file now (%d).", answer.StatusCode)
	case answer.StatusCode != http.StatusOK:
		return core.Block{}, core.Errorf(core.NotAllowed, "the bot may not read it; it needs the scope files:read")
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxImage+1))
	if err != nil {
		return core.Block{}, core.Wrap(core.ProviderUnavailable, withoutAddress(err), "Slack stopped in the middle of a file.")
	}
	kind := http.DetectContentType(data)
	switch {
	case len(data) > maxImage:
		return core.Block{}, core.Errorf(core.MessageTooLarge, "too large")
	case !slices.Contains(imageTypes, kind): // a sign-in page, for instance
		return core.Block{}, core.Errorf(core.NotAllowed, "it is no image, or the bot may not read it")
	}
	return core.Block{Type: core.ImageBlock, MediaType: kind, Source: &core.ImageSource{Type: "inline", Base64Data: base64.StdEncoding.EncodeToString(data)}}, nil
}

// withoutAddress leaves the address out of an error that goes to the log: a file's address may carry a key of its own.
func withoutAddress(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return err
}

var errForeignHost = errors.New("redirected away from Slack")

// downloads is a client that follows no redirect away from Slack's hosts: the token would go with it.
func (s *Slack) downloads() *http.Client {
	c := *s.http
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > 3 || !s.ownHost(r.URL.String()) {
			return errForeignHost
		}
		return nil
	}
	return &c
}

// ownHost reports an address at Slack, or where SLACK_API_URL says that Slack is.
func (s *Slack) ownHost(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	if configured, err := url.Parse(s.Config.APIURL); err == nil && u.Scheme == configured.Scheme && u.Host == configured.Host {
		return true
	}
	return u.Scheme == "https" && u.Port() == "" && (u.Hostname() == "slack.com" || strings.HasSuffix(u.Hostname(), ".slack.com"))
}
