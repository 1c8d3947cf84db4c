// Package socketmode is Socket Mode of the fake Slack: the sockets that an app holds open, and the payloads and
// acknowledgements on them.
//
// All state is under the lock of the fake. Methods of [Hub] and [Socket] are for tests and take the lock; operations
// that only the fake itself may use are functions of this package.
package socketmode

import (
	"sync"
	"time"

	"gatehouse/adapters/internal/fakeserver"
)

// Config is what the sockets need from their fake.
type Config struct {
	Host      *fakeserver.Host
	Lock      *sync.Mutex // of the fake
	Now       func() time.Time
	AppID     string
	AckWithin time.Duration // how long an app has to acknowledge
	PingEvery time.Duration
	NewID     func() string // an id for an envelope
	Secret    func() string // a ticket
}

// Hub holds the sockets of one fake.
type Hub struct {
	o    Config
	host *fakeserver.Host
	mu   *sync.Mutex

	newSocketsSilent bool
	sockets          []*Socket
	opened           chan struct{} // closed and replaced when a socket opens
	tickets          map[string]bool
	acks             map[string]chan ack
	strayAcks        []string
	nextSocket       int
	turn             int // of the sockets
}

// New returns a hub without sockets.
func New(o Config) *Hub {
	return &Hub{
		o: o, host: o.Host, mu: o.Lock, opened: make(chan struct{}), tickets: map[string]bool{},
		acks: map[string]chan ack{},
	}
}
