package access

import (
	"cmp"
	"net/http"
	"sync"
	"time"
)

// A wrong token is answered after a second, and only so many wait for that at a time: who guesses tries at most
// waitPerPeer tokens a second, and all together waitInAll. A right one never waits.
const (
	guessTime   = time.Second
	waitPerPeer = 20
	waitInAll   = 200
)

// guesses are the requests with a wrong token that wait for their answer.
type guesses struct {
	mu    sync.Mutex
	all   int
	peers map[string]int // of those that wait alone, so it has waitInAll entries at most
}

// wrong is the answer to a request with a wrong token, once it is due. If too many wait already, it refuses the request
// at once.
func (g *guesses) wrong(r *http.Request, token string) *Refusal {
	peer := peerOf(r)
	if !g.enter(peer) {
		return &Refusal{
			Status: http.StatusTooManyRequests, Code: "rate_limited", RetryAfter: guessTime,
			Message: "Too many wrong tokens come at once, and this token is wrong too. Wait, then try again.",
		}
	}
	defer g.leave(peer)
	due := time.NewTimer(guessTime)
	defer due.Stop()
	select {
	case <-due.C:
	case <-r.Context().Done(): // nobody waits for the answer
	}
	return unauthorized(cmp.Or(mistyped(token), "The token is not valid."))
}

func (g *guesses) enter(peer string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all >= waitInAll || g.peers[peer] >= waitPerPeer {
		return false
	}
	g.all++
	g.peers[peer]++
	return true
}

func (g *guesses) leave(peer string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all--
	if g.peers[peer]--; g.peers[peer] == 0 {
		delete(g.peers, peer)
	}
}

// peerOf names the address that a request comes from.
func peerOf(r *http.Request) string { return Peer(r.RemoteAddr) }
