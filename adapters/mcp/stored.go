package mcp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/core"
)

// lastList is the last list of tools of a server, as it gave them. It is stored, so that its tools are there before the
// server runs: a conversation does not wait for a server that it does not call.
type lastList struct {
	Entry string // the digest of how the server is reached: another server of this name has other tools
	About string
	Tools []*sdk.Tool
}

// Limits of what is stored: the packed list lies in pieces of at most core.MaxValue bytes. A longer list is not stored.
const (
	maxPieces   = 16
	maxUnpacked = 16 << 20
	recallTime  = 5 * time.Second
)

// entryDigest tells apart what a server of one name is.
func (s *server) entryDigest() string {
	text, _ := json.Marshal([]any{s.Command, s.Args, s.Dir, s.URL}) // of texts: can't fail
	return digestOf(string(text))
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// remember stores a list. One that holds a secret of the entry is not stored, since there it could not be hidden.
func (s *server) remember(ctx context.Context, about string, listed []*sdk.Tool) {
	text, err := json.Marshal(lastList{s.entryDigest(), about, listed})
	if err != nil || s.pins == nil {
		return
	}
	if s.holdsSecret(string(text)) {
		return
	}
	packed := pack(text)
	digest := digestOf(packed)
	if digest == s.remembered || len(packed) > maxPieces*core.MaxValue {
		return
	}
	n := 0
	for piece := range slices.Chunk([]byte(packed), core.MaxValue) {
		if err = s.pins.Put(ctx, s.pieceName(n), string(piece)); err != nil {
			break
		}
		n++
	}
	if err == nil {
		err = s.pins.Put(ctx, s.listName(), fmt.Sprintf("%d %s", n, digest))
	}
	if err != nil {
		s.log.Warn("the tools of the MCP server could not be stored; after a start they are there once it runs",
			"err", err)
		return
	}
	s.remembered = digest
}

// recall makes the tools of the stored list, if there is one, until the server gives another.
func (s *server) recall() {
	if s.pins == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), recallTime)
	defer cancel()
	head, err := s.pins.Get(ctx, s.listName())
	if err != nil {
		s.log.Warn("the stored tools of the MCP server can't be read; its tools are there once it runs", "err", err)
		return
	}
	var n int
	var digest string
	if _, err := fmt.Sscanf(head, "%d %s", &n, &digest); err != nil || n < 1 || n > maxPieces {
		return // there is none
	}
	var packed strings.Builder
	for i := range n {
		piece, err := s.pins.Get(ctx, s.pieceName(i))
		if err != nil {
			return
		}
		packed.WriteString(piece)
	}
	var last lastList
	if digestOf(packed.String()) != digest || json.Unmarshal(unpack(packed.String()), &last) != nil ||
		last.Entry != s.entryDigest() || slices.Contains(last.Tools, nil) {
		return // another process is storing one now, or the entry is another
	}
	found := s.listingOf(ctx, last.Tools)
	found.warnings, found.changes = nil, nil // they are said when the server gives its list
	s.listing, s.about, s.remembered = found, last.About, digest
}

func (s *server) listName() string       { return "mcp.list/" + s.Name }
func (s *server) pieceName(n int) string { return fmt.Sprintf("mcp.list/%s/%d", s.Name, n) }

// holdsSecret reports whether a text holds a secret of the entry.
func (s *server) holdsSecret(text string) bool {
	return s.without(text) != text
}

// pack makes a short text of a long one.
func pack(text []byte) string {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

// unpack is the reverse of pack; it is empty for what pack did not make.
func unpack(packed string) []byte {
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r, maxUnpacked))
	if err != nil {
		return nil
	}
	return text
}
