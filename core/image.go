package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// digestPrefix begins a digest, so that another hash can follow one day.
const digestPrefix = "sha256:"

// Digest is the name under which the bytes of an image are stored: "sha256:" and their SHA-256 in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}

// isDigest reports whether s has the form of a digest.
func isDigest(s string) bool {
	sum, ok := strings.CutPrefix(s, digestPrefix)
	raw, err := hex.DecodeString(sum)
	return ok && err == nil && len(raw) == sha256.Size && sum == strings.ToLower(sum)
}

// StoredImage is the block of an image whose bytes are stored under their digest.
func StoredImage(mediaType, digest string, size int) Block {
	return Block{Type: ImageBlock, MediaType: mediaType, Source: &ImageSource{Type: SourceStored, Digest: digest, Size: int64(size)}}
}

// StoredImages gives the digests of a message's stored images and of those kept beside it, each once, in order.
func (m Message) StoredImages() []string {
	all := m.Content.blocks
	if m.Kept != nil {
		all = slices.Concat(all, m.Kept.Images)
	}
	return storedIn(all)
}

func storedIn(blocks []Block) []string {
	var all []string
	seen := map[string]bool{}
	for _, b := range blocks {
		if b.Source != nil && b.Source.Type == SourceStored && !seen[b.Source.Digest] {
			seen[b.Source.Digest] = true
			all = append(all, b.Source.Digest)
		}
	}
	return all
}

// WithImages gives the message with its stored images as inline ones, for a provider that is shown them, or for an export. load
// returns the bytes of a digest. m stays as it was.
func (m Message) WithImages(ctx context.Context, load func(ctx context.Context, digest string) ([]byte, error)) (Message, error) {
	if len(storedIn(m.Content.blocks)) == 0 {
		return m, nil
	}
	blocks := m.Content.Blocks()
	for i, b := range blocks {
		if b.Source == nil || b.Source.Type != SourceStored {
			continue
		}
		data, err := load(ctx, b.Source.Digest)
		if err != nil {
			return Message{}, err
		}
		blocks[i].Source = &ImageSource{Type: SourceInline, Base64Data: base64.StdEncoding.EncodeToString(data)}
	}
	m.Content = Content{blocks: blocks}
	return m, nil
}
