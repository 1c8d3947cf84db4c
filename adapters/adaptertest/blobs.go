package adaptertest

import (
	"context"
	"slices"
	"sync"

	"gatehouse/core"
)

// Blobs stands in for the store of images. Its zero value is ready.
type Blobs struct {
	mu    sync.Mutex
	bytes map[string][]byte
	Err   error // of PutBlob, if not nil
}

// PutBlob stores the bytes of an image under their digest.
func (b *Blobs) PutBlob(_ context.Context, _ core.Event, data []byte) (digest string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Err != nil {
		return "", b.Err
	}
	if b.bytes == nil {
		b.bytes = map[string][]byte{}
	}
	digest = core.Digest(data)
	b.bytes[digest] = slices.Clone(data)
	return digest, nil
}

// Load returns the bytes of a digest. Error: not_found.
func (b *Blobs) Load(_ context.Context, digest string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.bytes[digest]
	if !ok {
		return nil, core.Errorf(core.NotFound, "The image %s is not stored.", digest)
	}
	return data, nil
}
