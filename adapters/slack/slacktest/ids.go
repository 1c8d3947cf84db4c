package slacktest

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync/atomic"
)

// object is a JSON object on its way to the wire.
type object = map[string]any

// ids makes the ids of one server. They differ from those of every other server, so that an app under test that is shown a second fake
// does not take its events for known ones.
type ids struct {
	server string
	last   *atomic.Int64
}

func newIDs() ids { return ids{server: strings.ToUpper(rand.Text()[:6]), last: new(atomic.Int64)} }

// next is a new id in Slack's way: some letters of its kind, then letters and digits.
func (i ids) next(kind string) string { return fmt.Sprintf("%s%s%04X", kind, i.server, i.last.Add(1)) }

// secret is a word that can't be guessed.
func (i ids) secret() string { return strings.ToLower(rand.Text()) }

// uuid is a new id in the form of envelope ids and client_msg_ids.
func (i ids) uuid() string {
	return fmt.Sprintf("%08x-%04x-4000-8000-%s", i.last.Add(1), 0x5ac, strings.ToLower(rand.Text()[:12]))
}
