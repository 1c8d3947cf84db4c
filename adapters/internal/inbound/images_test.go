package inbound_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/core"
)

// album serves an image at each path, and reads them for events.
type album struct {
	inbound.Fetcher
	server *httptest.Server
	blobs  adaptertest.Blobs
}

func newAlbum(t *testing.T, size int) *album {
	a := &album{}
	a.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(append([]byte("\x89PNG\x0d\x0a\x1a\x0a"+r.URL.Path), make([]byte, size)...))
	}))
	t.Cleanup(a.server.Close)
	a.Fetcher = inbound.Fetcher{
		Title: "The platform", Client: a.server.Client(), APIURL: a.server.URL, Blobs: &a.blobs,
		Refused: core.Errorf(core.NotAllowed, "refused"), Redirected: core.Errorf(core.NotAllowed, "redirected"),
	}
	return a
}

// read reads n images of one message.
func (a *album) read(ctx context.Context, n int) (images []core.Block, unread []string, err error) {
	var files []inbound.File
	for i := range n {
		files = append(files,
			inbound.File{Name: fmt.Sprint(i), Type: "image/png", URL: fmt.Sprint(a.server.URL, "/", i)})
	}
	r, err := inbound.Files(ctx, files, func(ctx context.Context, f inbound.File) (inbound.Content, error) {
		return a.Fetch(ctx, f, f.URL)
	})
	return r.Images, r.Unread, err
}

// fullOnce are blobs that keep nothing before four are to be kept at once.
type fullOnce struct {
	core.Blobs
	held, most atomic.Int64
	full       chan struct{}
	opened     sync.Once
}

func (f *fullOnce) PutBlob(ctx context.Context, e core.Event, data []byte) (string, error) {
	n := f.held.Add(1)
	defer f.held.Add(-1)
	for m := f.most.Load(); n > m && !f.most.CompareAndSwap(m, n); m = f.most.Load() {
		continue
	}
	if n == 4 { // all slots are in use
		f.opened.Do(func() { close(f.full) })
	}
	<-f.full
	return f.Blobs.PutBlob(ctx, e, data)
}

func TestFourImagesAtMostAreHeldAtOnce(t *testing.T) {
	a := newAlbum(t, 100)
	held := &fullOnce{Blobs: a.Blobs, full: make(chan struct{})}
	a.Blobs = held
	var senders sync.WaitGroup
	for range 20 {
		senders.Go(func() {
			if images, unread, err := a.read(t.Context(), 2); len(images) != 2 || len(unread) != 0 || err != nil {
				t.Errorf("got %d images, %q, %v", len(images), unread, err)
			}
		})
	}
	senders.Wait()
	if held.most.Load() != 4 {
		t.Errorf("%d images were held at once", held.most.Load())
	}
}

func TestAnImageThatCannotBeStoredFailsTheTurn(t *testing.T) {
	a := newAlbum(t, 100)
	a.blobs.Err = core.Errorf(core.StoreFull, "The disk is full.")
	if _, unread, err := a.read(t.Context(), 1); core.CategoryOf(err) != core.StoreFull {
		t.Errorf("got %q, %v", unread, err)
	}
	ended, end := context.WithCancelCause(t.Context())
	end(errors.New("stopped"))
	if _, unread, err := a.read(ended, 1); err == nil {
		t.Errorf("after the end of its context: %q", unread)
	}
}

func TestImagesOfAMessageShareALimit(t *testing.T) {
	a := newAlbum(t, 3<<20)
	images, unread, err := a.read(t.Context(), 3)
	if err != nil || len(images) != 2 || len(unread) != 1 ||
		unread[0] != "2 (over the limit of 8 MB for the images of one message)" {
		t.Fatalf("got %d images, %q, %v", len(images), unread, err)
	}
	for i, image := range images {
		data, err := a.blobs.Load(t.Context(), image.Source.Digest)
		if err != nil || int64(len(data)) != image.Source.Size ||
			!bytes.Contains(data[:20], []byte(fmt.Sprint("/", i))) {
			t.Errorf("image %d: %d bytes, %+v (%v)", i, len(data), image.Source, err)
		}
	}
}
