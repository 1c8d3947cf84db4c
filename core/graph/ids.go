package graph

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"gatehouse/core"
)

// END is where an edge leads that ends the graph. No node can have this name; a node named "END" is another thing.
const END = "\x00END"

// IDs are the three ids that travel with an invocation.
type IDs struct {
	Invocation  core.InvocationID
	Correlation string
	Session     core.SessionID // "" = not bound to a session
}

type idsKey struct{}

// InvocationFrom gives the ids of the invocation that a context belongs to: in nodes, in what they call, and in observers
// (graph-engine §5). A context outside an invocation has none, and nothing stays in it afterwards.
func InvocationFrom(ctx context.Context) (ids IDs, ok bool) {
	ids, ok = ctx.Value(idsKey{}).(IDs)
	return ids, ok
}

// NewID is a random UUID of version 4.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// urlSafe reports whether an id can be used unescaped in a URL path.
func urlSafe(id string) bool {
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~:@!$&'()*+,;=", r) {
			return false
		}
	}
	return id != ""
}
