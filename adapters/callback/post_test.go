package callback_test

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gatehouse/adapters/callback"
	"gatehouse/core"
)

// The receiver verifies with the reference library of the Standard Webhooks specification, with each of the keys alone.
func TestDecisionIsPostedAndSigned(t *testing.T) {
	s := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	ref, more, err := sender(t, hosts(t, s.at()), nil).Post(t.Context(), decision("http://"+s.at()+"/decided?task=7"))
	if err != nil || ref != "a1/callback" || more {
		t.Fatalf("%q, %v, %v", ref, more, err)
	}
	r := s.got()[0]
	if r.method != http.MethodPost || r.uri != "/decided?task=7" || r.body != body {
		t.Errorf("%+v", r)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "gatehouse", "Webhook-Id": "a1",
	} {
		if r.header.Get(name) != want {
			t.Errorf("%s: %s", name, r.header.Get(name))
		}
	}
	for _, key := range [][]byte{newKey, oldKey} {
		hook, err := standardwebhooks.NewWebhook("whsec_" + base64.StdEncoding.EncodeToString(key))
		if err != nil {
			t.Fatal(err)
		}
		if err := hook.Verify([]byte(r.body), r.header); err != nil {
			t.Error(err)
		}
		if hook.Verify([]byte(strings.Replace(r.body, "approved", "denied", 1)), r.header) == nil {
			t.Error("a changed decision is taken for ours")
		}
	}
	other, _ := standardwebhooks.NewWebhookRaw([]byte("a key of somebody else, 32 bytes!"))
	if other.Verify([]byte(r.body), r.header) == nil {
		t.Error("a key of somebody else verifies it")
	}
	newest, _, _ := strings.Cut(r.header.Get("Webhook-Signature"), " ")
	hook, _ := standardwebhooks.NewWebhookRaw(newKey)
	r.header.Set("Webhook-Signature", newest)
	if err := hook.Verify([]byte(r.body), r.header); err != nil {
		t.Errorf("the newest key does not sign first: %v", err)
	}
}

// An attempt has its own time, and the id of the decision; a full stop, which separates what is signed, is never in an
// id.
func TestAttemptsHaveOneIDAndTheirOwnTime(t *testing.T) {
	s := receive(t, func(int, http.ResponseWriter, *http.Request) {})
	now := time.Unix(1_790_000_000, 0)
	p := sender(t, hosts(t, s.at()), func(c *callback.Config) {
		c.Now = func() time.Time { now = now.Add(time.Minute); return now }
	})
	d := decision("http://" + s.at())
	d.Approval = "task.1\n2"
	for range 2 {
		if _, _, err := p.Post(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	first, second := s.got()[0].header, s.got()[1].header
	if id := first.Get("Webhook-Id"); id != "task%2E1%0A2" || id != second.Get("Webhook-Id") {
		t.Errorf("%s, then %s", id, second.Get("Webhook-Id"))
	}
	if first.Get("Webhook-Timestamp") >= second.Get("Webhook-Timestamp") ||
		first.Get("Webhook-Signature") == second.Get("Webhook-Signature") {
		t.Errorf("%v, then %v", first, second)
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		code  int
		after string
		want  core.Category
		wait  time.Duration
		says  string
	}{
		{200, "", "", 0, ""}, {201, "", "", 0, ""}, {202, "60", "", 0, ""}, {299, "", "", 0, ""},
		{429, "7", core.DeliveryLater, 7 * time.Second, "429 Too Many Requests"},
		{503, "0.5", core.DeliveryLater, 500 * time.Millisecond, "503 Service Unavailable"},
		{503, "1e9", core.DeliveryLater, time.Hour, "503"}, {429, "", core.DeliveryLater, 0, "429"},
		{500, "soon", core.DeliveryLater, 0, "500 Internal Server Error"},
		{408, "", core.DeliveryLater, 0, "408"}, {425, "", core.DeliveryLater, 0, "425"},
		{502, "3", core.DeliveryLater, 3 * time.Second, "502"}, {504, "", core.DeliveryLater, 0, "504"},
		{599, "", core.DeliveryLater, 0, "599"},
		{400, "", core.DeliveryFailed, 0, "400 Bad Request, so the decision is not sent again by itself"},
		{401, "", core.DeliveryFailed, 0, "401"}, {404, "9", core.DeliveryFailed, 0, "404"},
		{410, "", core.DeliveryFailed, 0, "410 Gone: it wants no more decisions"},
		{304, "", core.DeliveryFailed, 0, "Redirects are not followed"}, {600, "", core.DeliveryFailed, 0, "600"},
	} {
		s := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			if c.after != "" {
				w.Header().Set("Retry-After", c.after)
			}
			w.WriteHeader(c.code)
		})
		ref, _, err := sender(t, hosts(t, s.at()), nil).Post(t.Context(), decision("http://"+s.at()+"/?secret=s3cret"))
		if core.CategoryOf(err) != c.want || core.RetryAfterOf(err) != c.wait || (ref == "") != (err != nil) {
			t.Errorf("%d: %q, %v (after %s)", c.code, ref, err, core.RetryAfterOf(err))
		}
		if err != nil &&
			(!strings.HasPrefix(core.MessageOf(err), s.at()+" answered with ") ||
				!strings.Contains(core.MessageOf(err), c.says) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%d says: %v", c.code, err)
		}
	}
}

// The body of an answer is not read, however long it is, and does not delay the next attempt.
func TestAnswersAreNotRead(t *testing.T) {
	for _, code := range []int{http.StatusOK, http.StatusInternalServerError, http.StatusBadRequest} {
		var written atomic.Int64
		ended := make(chan struct{})
		s := receive(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			defer close(ended)
			w.WriteHeader(code)
			for piece := []byte(strings.Repeat("x", 1<<20)); written.Load() < 100<<20; {
				n, err := w.Write(piece)
				if written.Add(int64(n)); err != nil {
					return
				}
			}
		})
		_, _, err := sender(t, hosts(t, s.at()), nil).Post(t.Context(), decision("http://"+s.at()))
		if (err == nil) != (code == http.StatusOK) || err != nil && strings.Contains(err.Error(), "xx") {
			t.Errorf("%d: %v", code, err)
		}
		<-ended
		if written.Load() >= 100<<20 {
			t.Errorf("%d: the whole answer was taken", code)
		}
	}
}

func TestReceiverWithoutAnAnswerIsTriedAgain(t *testing.T) {
	release := make(chan struct{})
	s := receive(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hangs":
			<-release
			return
		case "/drips": // its headers never end
			raw, _, _ := http.NewResponseController(w).Hijack()
			defer raw.Close()
			_, _ = io.WriteString(raw, "HTTP/1.1 200 OK\r\nX: ")
			<-release
			return
		}
		raw, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		switch r.URL.Path {
		case "/nonsense":
			_, _ = io.WriteString(raw, "s3cret nonsense\r\n\r\n")
		case "/headers":
			_, _ = io.WriteString(raw, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20)+"\r\n\r\n")
		}
		_ = raw.Close()
	})
	t.Cleanup(func() { close(release) }) // before the server is closed
	allow := func(limit time.Duration) *callback.Sender {
		return sender(t, hosts(t, s.at(), "127.0.0.1:1"), func(c *callback.Config) { c.Timeout = limit })
	}
	hurried, p := allow(300*time.Millisecond), allow(time.Minute)
	for address, want := range map[string]string{
		s.at() + "/hangs": "did not answer in time", s.at() + "/drips": "did not answer in time",
		s.at() + "/closes":   "gave no answer that can be read",
		s.at() + "/nonsense": "gave no answer that can be read", s.at() + "/headers": "gave no answer that can be read",
		"127.0.0.1:1/": "could not be reached",
	} {
		from := p
		if want == "did not answer in time" {
			from = hurried
		}
		_, _, err := from.Post(t.Context(), decision("http://"+address))
		if core.CategoryOf(err) != core.DeliveryLater || !strings.Contains(core.MessageOf(err), want) ||
			strings.Contains(err.Error(), "s3cret") || len(err.Error()) > 500 {
			t.Errorf("%s: %v", address, err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := p.Post(stopped, decision("http://"+s.at()+"/stopped")); core.CategoryOf(err) != core.DeliveryLater {
		t.Errorf("stopped: %v", err)
	}
}

// Over https the receiver's certificate is verified.
func TestCertificatesAreVerified(t *testing.T) {
	reached := 0
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	at := s.Listener.Addr().String()
	_, _, err := sender(t, hosts(t, at), nil).Post(t.Context(), decision("https://"+at))
	if core.CategoryOf(err) != core.DeliveryLater ||
		!strings.Contains(core.MessageOf(err), "has no valid certificate") || reached != 0 {
		t.Errorf("reached %d times: %v", reached, err)
	}
	known := x509.NewCertPool()
	known.AddCert(s.Certificate())
	if _, _, err := sender(t, hosts(t, at), func(c *callback.Config) {
		c.Roots = known
	}).Post(t.Context(), decision("https://"+at)); err != nil || reached != 1 {
		t.Errorf("reached %d times: %v", reached, err)
	}
}

// What can't be sent reaches nobody; a failure of our own store is not taken for the receiver's verdict.
func TestDecisionThatCannotBeMade(t *testing.T) {
	s := receive(t, refuses(t))
	busy, gone := core.Errorf(core.StoreBusy, "busy"), core.Errorf(core.NotFound, "There is no such approval.")
	fails := func(err error) func(*callback.Config) {
		return func(c *callback.Config) {
			keys := c.Approvals.(approvals).keys
			c.Approvals = approvals{func(context.Context, core.ApprovalID) ([]byte, error) { return nil, err }, keys}
		}
	}
	hasNoKeys := func(err error) func(*callback.Config) {
		return func(c *callback.Config) {
			body := c.Approvals.(approvals).body
			c.Approvals = approvals{body, func(context.Context, core.ApprovalID) ([][]byte, error) { return nil, err }}
		}
	}
	for name, c := range map[string]struct {
		change func(*callback.Config)
		want   core.Category
		is     error
	}{
		"the database is busy": {fails(busy), core.DeliveryLater, busy},
		"the approval is gone": {fails(gone), core.NotFound, gone},
		"keys can't be read":   {hasNoKeys(busy), core.DeliveryLater, busy},
		"there is no key":      {hasNoKeys(nil), core.Internal, nil},
	} {
		_, _, err := sender(t, hosts(t, s.at()), c.change).Post(t.Context(), decision("http://"+s.at()))
		if core.CategoryOf(err) != c.want || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nameless := decision("http://" + s.at())
	nameless.Approval = ""
	if _, _, err := sender(t, hosts(t, s.at()), nil).Post(t.Context(),
		nameless); core.CategoryOf(err) != core.Internal {
		t.Errorf("without an approval: %v", err)
	}
}

func TestItOnlySpeaks(t *testing.T) {
	p := sender(t, hosts(t), nil)
	if p.Name() != "callback" {
		t.Error(p.Name())
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := p.Run(ctx, nil); err != nil {
		t.Error(err)
	}
	if _, err := p.Parse(t.Context(), core.Event{}); core.CategoryOf(err) != core.Unsupported {
		t.Errorf("Parse: %v", err)
	}
	if err := p.Edit(t.Context(), "x", decision("")); core.CategoryOf(err) != core.Unsupported {
		t.Errorf("Edit: %v", err)
	}
	working := core.Delivery{Post: core.Post{Kind: core.PostWorking, On: true}}
	if ref, more, err := p.Post(t.Context(), working); ref != "" || more || err != nil {
		t.Errorf("a typing indicator: %q, %v, %v", ref, more, err)
	}
	if in, out := p.Health(); in != nil || out != nil {
		t.Errorf("Health: %v, %v", in, out)
	}
}
