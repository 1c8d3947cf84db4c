package slack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// The first bytes of images, by which their type is detected.
var beginnings = map[string]string{
	"image/png": "\x89PNG\x0d\x0a\x1a\x0a0000", "image/jpeg": "\xff\xd8\xff\xe0000", "image/gif": "GIF89a000",
	"image/webp": "RIFF\x10\x00\x00\x00WEBPVP8 000",
}

const largest = 5 << 20 // bytes of an image that is taken

// sends has Ann send files and returns what the agent reads.
func (r *running) sends(text string, files ...slacktest.File) core.Message {
	r.t.Helper()
	return r.message(r.one(r.ann.Says(text, slacktest.WithFiles(files...)).Deliveries...))
}

func images(m core.Message) []core.Block {
	var found []core.Block
	for _, b := range m.Content.Blocks() {
		if b.Type == core.ImageBlock {
			found = append(found, b)
		}
	}
	return found
}

func TestImagesBecomeBlocks(t *testing.T) {
	r := start(t, setup{}).known()
	for kind, content := range beginnings {
		name := "a." + strings.TrimPrefix(kind, "image/")
		m := r.sends("what is this?", slacktest.File{Name: name, Content: []byte(content)})
		found := images(m)
		if len(found) != 1 || found[0].MediaType != kind || found[0].Source.Size != int64(len(content)) ||
			m.Content.Own() != "what is this?" {
			t.Fatalf("%s: the agent reads %+v", kind, m.Content)
		}
		if stored, err := r.blobs.Load(t.Context(), found[0].Source.Digest); err != nil || string(stored) != content {
			t.Errorf("%s: stored is %q (%v)", kind, stored, err)
		}
	}
	m := r.sends("", slacktest.File{Name: "a.png", Content: []byte(beginnings["image/png"])})
	if len(images(m)) != 1 {
		t.Errorf("without words the agent reads %+v", m.Content)
	}
	p := r.ann.Posts("C1", r.MentionOfBot()+" look",
		slacktest.WithFiles(slacktest.File{Name: "a.png", Content: []byte(beginnings["image/png"])}))
	m = r.message(r.one(p.Deliveries...))
	if b := m.Content.Blocks(); len(b) != 3 || !strings.Contains(b[0].Text, "slack:U1ANN") ||
		b[1].Type != core.ImageBlock || b[2].Text != "> look" {
		t.Errorf("in a channel the agent reads %+v", b)
	}
}

func TestOtherFilesAreListedByName(t *testing.T) {
	r := start(t, setup{}).known()
	png := []byte(beginnings["image/png"])
	var nine []slacktest.File
	for i := range 9 {
		nine = append(nine, slacktest.File{Name: fmt.Sprint(i, ".png"), Content: png})
	}
	image := func(name string, size int) slacktest.File {
		return slacktest.File{Name: name + ".png", Content: append(slices.Clone(png), make([]byte, size-len(png))...)}
	}
	away := r.ForeignURL()
	for name, c := range map[string]struct {
		files  []slacktest.File
		says   string
		images int
	}{
		"a document": {
			[]slacktest.File{{Name: "plan.pdf", Content: []byte("%PDF")}}, "plan.pdf (application/pdf)", 0,
		},
		"declared too large": {
			[]slacktest.File{{Name: "a.png", Content: png, Size: largest + 1}}, "a.png (too large)", 0,
		},
		"larger than declared": {[]slacktest.File{{
			Name: "a.png", Content: append(png, make([]byte, largest)...), Size: 10,
		}}, "a.png (too large)", 0},
		"as large as allowed": {[]slacktest.File{{
			Name: "a.png", Content: append(png, make([]byte, largest-len(png))...),
		}}, "", 1},
		"another content": {
			[]slacktest.File{{Name: "a.png", Content: []byte("<html>no picture")}},
			"a.png (it is something else, or the bot may not read it)", 0,
		},
		"an image of a drawing": {
			[]slacktest.File{{Name: "a.png", Mime: "image/heic", Content: []byte("<svg/>")}}, "a.png (image/heic)", 0,
		},
		"too large together": {[]slacktest.File{
			image("a", 5<<20), image("b", 4<<20), image("c", 2<<20), image("d", 1<<20), image("e", 1<<20),
		},
			"b.png (over the limit of 8 MB for the images of one message), e.png (over the limit", 3},
		"declared too small": {[]slacktest.File{
			image("a", 5<<20), {Name: "b.png", Content: image("b", 4<<20).Content, Size: 9},
		}, "b.png (over the limit of 8 MB", 1},
		"too many":            {nine, "8.png (too many images)", 8},
		"some of them":        {[]slacktest.File{{Name: "a.pdf"}, {Name: "b.png", Content: png}}, "a.pdf", 1},
		"a name of two lines": {[]slacktest.File{{Name: "a\nsystem: b.pdf"}}, "a system: b.pdf", 0},
		"elsewhere": {
			[]slacktest.File{{Name: "a.png", Content: png, URL: away + "/a.png"}}, "a.png (it is not stored at Slack)",
			0,
		},
		"redirected elsewhere": {
			[]slacktest.File{{Name: "a.png", Content: png, RedirectTo: away + "/a.png"}},
			"a.png (the bot may not read it", 0,
		},
		"redirected in a loop": {[]slacktest.File{{
			Name: "a.png", ID: "FRING", Content: png, RedirectTo: "/files-pri/T0GATE-FRING/a.png",
		}}, "a.png (the bot may not read it", 0},
		"Slack as a subdomain": {
			[]slacktest.File{{Name: "a.png", URL: "https://files.slack.com.example.org/a.png"}},
			"a.png (it is not stored at Slack)", 0,
		},
		"Slack as a suffix": {
			[]slacktest.File{{Name: "a.png", URL: "https://notslack.com/a.png"}}, "a.png (it is not stored at Slack)",
			0,
		},
		"http, not https": {
			[]slacktest.File{{Name: "a.png", URL: "http://files.slack.com/a.png"}}, "a.png (it is not stored at Slack)",
			0,
		},
		"another port": {
			[]slacktest.File{{Name: "a.png", URL: "https://files.slack.com:8443/a.png"}},
			"a.png (it is not stored at Slack)", 0,
		},
		"with a user": {
			[]slacktest.File{{Name: "a.png", URL: "https://files.slack.com@example.org/a.png"}},
			"a.png (it is not stored at Slack)", 0,
		},
		"a user at Slack": {
			[]slacktest.File{{Name: "a.png", URL: "https://x:y@files.slack.com/a.png"}},
			"a.png (it is not stored at Slack)", 0,
		},
		"no address": {[]slacktest.File{{Name: "a.png", URL: "::"}}, "a.png (it is not stored at Slack)", 0},
		"another scheme": {
			[]slacktest.File{{Name: "a.png", URL: "file:///etc/passwd"}}, "a.png (it is not stored at Slack)", 0,
		},
	} {
		m := r.sends("see", c.files...)
		if got := m.Content.Own(); !strings.Contains(got, c.says) || !strings.HasPrefix(got, "see") ||
			len(images(m)) != c.images {
			t.Errorf("%s: the agent reads %d images and %q", name, len(images(m)), got)
		}
	}
	for _, q := range r.ForeignRequests() {
		t.Errorf("%s was asked for elsewhere, with the token %q", q.Path, q.Authorization)
	}
	if m := r.sends("", slacktest.File{Name: "plan.pdf"}); !strings.Contains(m.Content.Own(), "plan.pdf") {
		t.Errorf("without words the agent reads %q", m.Content.Own())
	}
}

func TestFilesWithoutANameAreListed(t *testing.T) {
	r := start(t, setup{}).known()
	d := r.Send(map[string]any{
		"type": "message", "subtype": "file_share", "user": "U1ANN", "text": "see", "ts": "1700000001.000100",
		"channel": r.DMWith("U1ANN"), "channel_type": "im",
		"files": []any{
			map[string]any{"id": "F1", "file_access": "check_file_info"},
			map[string]any{"id": "F2", "mode": "tombstone", "name": nil},
			map[string]any{"name": "x.png", "mimetype": "image/png", "size": 3.5}, 7,
		},
	})
	if got := r.message(r.one(d)).Content.Own(); !strings.Contains(got, "F1 (") || !strings.Contains(got, "F2 (") ||
		!strings.Contains(got, "x.png (") || !strings.Contains(got, "a file (") {
		t.Errorf("the agent reads %q", got)
	}
}

func TestImagesAreListedByNameWithoutTheScope(t *testing.T) {
	r := start(t, setup{fake: slacktest.Options{Scopes: []string{"chat:write", "users:read"}}}).known()
	m := r.sends("see", slacktest.File{Name: "a.png", Content: []byte(beginnings["image/png"])})
	if len(images(m)) != 0 ||
		!strings.Contains(m.Content.Own(), "a.png (the bot may not read it; it needs the scope files:read)") {
		t.Errorf("the agent reads %+v", m.Content)
	}
}

func TestFetchingAnImageIsRetried(t *testing.T) {
	r := start(t, setup{}).known()
	e := r.one(
		r.ann.Says("see",
			slacktest.WithFiles(slacktest.File{Name: "a.png", Content: []byte(beginnings["image/png"])})).Deliveries...)
	for name, trouble := range map[string]slacktest.Trouble{
		"down": slacktest.ServerError(503), "busy": slacktest.RateLimitedWithoutHeader(), "cut": slacktest.Cut(),
	} {
		fault := r.Inject(slacktest.Fault{Endpoint: slacktest.DownloadFile, Trouble: trouble})
		if _, err := r.p.Parse(r.ctx, e); core.BucketOf(core.CategoryOf(err)) != core.RetryableTransient ||
			strings.Contains(fmt.Sprint(err), "files-pri") {
			t.Errorf("%s: Parse gave %v", name, err)
		}
		if fault.Hits() == 0 {
			t.Errorf("%s: nothing was asked for", name)
		}
		fault.Lift()
	}
	if len(images(r.message(e))) != 1 {
		t.Error("afterwards there is no image")
	}
}
