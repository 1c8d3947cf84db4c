package callback_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"gatehouse/adapters/callback"
	"gatehouse/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The keys of whoever asked for the approvals, newest first, and the approval that is decided.
var (
	newKey = []byte("the newest key of 32 random bytes")
	oldKey = []byte("an older key, of 32 random bytes!")
)

const body = `{"id":"a1","state":"approved","by":"Ann"}`

// got is a request that a receiver got.
type got struct {
	method, uri string
	header      http.Header
	body        string
}

// receiver is a server that decisions are posted to.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	all []got
}

// receive starts a receiver. answer is called with the number of the request, from 1.
func receive(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	s := &receiver{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.all = append(s.all, got{r.Method, r.RequestURI, r.Header.Clone(), string(raw)})
		n := len(s.all)
		s.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *receiver) at() string { return s.Listener.Addr().String() }

func (s *receiver) got() []got {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]got(nil), s.all...)
}

// refuses lets a test fail if the receiver is reached.
func refuses(t *testing.T) func(int, http.ResponseWriter, *http.Request) {
	return func(int, http.ResponseWriter, *http.Request) { t.Error("it was reached") }
}

func hosts(t *testing.T, list ...string) callback.Hosts {
	t.Helper()
	h, err := callback.ParseHosts(strings.Join(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// approvals are functions of a test.
type approvals struct {
	body func(context.Context, core.ApprovalID) ([]byte, error)
	keys func(context.Context, core.ApprovalID) ([][]byte, error)
}

func (a approvals) Body(ctx context.Context, id core.ApprovalID) ([]byte, error) {
	return a.body(ctx, id)
}

func (a approvals) Keys(ctx context.Context, id core.ApprovalID) ([][]byte, error) {
	return a.keys(ctx, id)
}

// sender returns a sender of the body for these hosts. change may be nil.
func sender(t *testing.T, h callback.Hosts, change func(*callback.Config)) *callback.Sender {
	t.Helper()
	c := callback.Config{
		Hosts: h,
		Approvals: approvals{
			func(context.Context, core.ApprovalID) ([]byte, error) { return []byte(body), nil },
			func(context.Context, core.ApprovalID) ([][]byte, error) { return [][]byte{newKey, oldKey}, nil },
		},
	}
	if change != nil {
		change(&c)
	}
	return callback.New(c)
}

// decision is the delivery of a decision to a URL.
func decision(url string) core.Delivery {
	return core.Delivery{Post: core.Post{
		Key: "a1/callback", To: core.Address{Platform: callback.Name, Channel: url, Thread: "a1"},
		Kind: core.PostNotice, Approval: "a1",
	}}
}
