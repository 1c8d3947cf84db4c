package callback

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"time"

	"gatehouse/adapters/internal/egress"
	"gatehouse/core"
)

// Name is the name of the platform.
const Name = "callback"

// Config is what a Sender needs.
type Config struct {
	Hosts Hosts
	Approvals

	Timeout  time.Duration    // of an attempt; 0: 10 s
	Now      func() time.Time // nil: time.Now
	Resolver *net.Resolver    // nil: the system's
	Roots    *x509.CertPool   // who certifies receivers; nil: the system's
}

// Approvals are those whose decisions are posted.
type Approvals interface {
	// Body gives the JSON of an approval, as GET /v1/approvals/ID answers it to whoever asked for it. It is called for
	// each attempt.
	Body(ctx context.Context, id core.ApprovalID) ([]byte, error)
	// Keys gives the keys that sign for whoever asked for the approval, newest first: at least one, each of 24 to 64
	// random bytes.
	Keys(ctx context.Context, id core.ApprovalID) ([][]byte, error)
}

// Sender is the platform; see the package comment.
type Sender struct {
	Config
	client *http.Client
}

var (
	_ core.Platform = (*Sender)(nil)
	_ core.Health   = (*Sender)(nil)
)

// New returns a sender. It panics if a required part is missing.
func New(c Config) *Sender {
	if c.Approvals == nil {
		panic("callback: Approvals are required")
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	transport := egress.Dialer{
		Hosts: c.Hosts.Hosts, Resolver: c.Resolver, Roots: c.Roots,
		Refusal: refusal{},
	}.Transport()
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Sender{Config: c, client: &http.Client{Transport: transport, CheckRedirect: stay}}
}

// Name is "callback".
func (s *Sender) Name() string { return Name }

// Run waits for the end of ctx: nobody writes to this platform.
func (s *Sender) Run(ctx context.Context, _ core.Accept) error {
	<-ctx.Done()
	return nil
}

// Parse is unsupported: there are no events.
func (s *Sender) Parse(context.Context, core.Event) (core.Input, error) {
	return core.Input{}, core.Errorf(core.Unsupported, "Nobody can write to gatehouse through a callback.")
}

// Edit is unsupported: a decision is posted once, and is final.
func (s *Sender) Edit(context.Context, core.Ref, core.Delivery) error {
	return core.Errorf(core.Unsupported, "A decision that was posted to a callback can't be changed.")
}

// Find finds nothing: a decision in doubt is posted again, under the same webhook-id.
func (s *Sender) Find(context.Context, core.Delivery) (core.Found, error) { return core.Found{}, nil }

// Health has no problem to report: each receiver is its own matter, and the rows of the outbox say what became of it.
func (s *Sender) Health() (inbound, outbound error) { return nil, nil }

// Clock is not known.
func (s *Sender) Clock() (now time.Time, ahead time.Duration, off error) { return now, 0, nil }
