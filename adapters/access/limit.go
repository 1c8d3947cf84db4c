package access

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// How many failures a minute are answered as such; as many may come at once.
const (
	loginsPerPeer  = 10
	loginsInAll    = 100
	bearersPerPeer = 60
)

// maxPeers bounds the memory for the addresses that failures come from. Those that find no room share one limit.
const maxPeers = 4096

// failures limits failures by the address that they come from.
type failures struct {
	perMinute int

	mu    sync.Mutex
	all   *rate.Limiter // nil: no limit
	rest  *rate.Limiter // of the peers without a limiter of their own
	peers map[string]*rate.Limiter
	swept time.Time
}

// newFailures limits one peer, and all of them together; 0 = no limit of all.
func newFailures(perPeer, inAll int) *failures {
	f := &failures{perMinute: perPeer, rest: minutely(perPeer), peers: map[string]*rate.Limiter{}}
	if inAll > 0 {
		f.all = minutely(inAll)
	}
	return f
}

func minutely(n int) *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(n)), n)
}

// take counts a failure of a peer. wait is how long the peer has to wait if it has had too many; then nothing is
// counted. giveBack undoes it: it was no failure.
func (f *failures) take(now time.Time, peer string) (giveBack func(), wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.limiter(now, peer).ReserveN(now, 1)
	giveBack = func() { one.CancelAt(now) }
	if wait = one.DelayFrom(now); wait > 0 || f.all == nil {
		if wait > 0 {
			giveBack()
		}
		return giveBack, wait
	}
	every := f.all.ReserveN(now, 1)
	giveBack = func() {
		one.CancelAt(now)
		every.CancelAt(now)
	}
	if wait = every.DelayFrom(now); wait > 0 {
		giveBack()
	}
	return giveBack, wait
}

// limiter returns the limiter of a peer.
func (f *failures) limiter(now time.Time, peer string) *rate.Limiter {
	if l, ok := f.peers[peer]; ok {
		return l
	}
	if len(f.peers) >= maxPeers && now.Sub(f.swept).Abs() > time.Second {
		f.swept = now
		for p, l := range f.peers {
			if l.TokensAt(now) >= float64(f.perMinute) {
				delete(f.peers, p)
			}
		}
	}
	if len(f.peers) >= maxPeers {
		return f.rest
	}
	l := minutely(f.perMinute)
	f.peers[peer] = l
	return l
}

// peerOf names the address that a request comes from: of IPv6 the network, since one machine has all of it.
func peerOf(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address := peer.Addr().Unmap()
	if address.Is4() {
		return address.String()
	}
	const network = 64                   // bits
	prefix, _ := address.Prefix(network) // an IPv6 address has as many
	return prefix.String()
}
