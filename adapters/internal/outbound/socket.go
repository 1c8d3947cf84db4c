package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/gorilla/websocket"

	"gatehouse/core"
)

// Socket opens a platform's websockets, and says what keeps one from opening. The REST API may well work then: another
// host serves the websocket, and proxies and networks that pass requests don't always pass it.
type Socket struct {
	Title  string        // of the platform
	URLKey string        // the setting with the address of its API, which returns the websocket's
	Hello  time.Duration // how long the platform may take from dialling to its first frame
	Limit  int64         // bytes of a frame
}

// SocketFault is why a websocket could not be opened. It never has the address, which may be a secret, but its host.
type SocketFault struct {
	What string // happened, and at which host
	Mend string // what to do
	Err  error  // may be nil
}

// Error returns the cause for the log, after the sentences that the error around it has.
func (f *SocketFault) Error() string {
	if f.Err == nil {
		return "no websocket"
	}
	return f.Err.Error()
}

// Unwrap returns the cause.
func (f *SocketFault) Unwrap() error { return f.Err }

// Dial opens a websocket and reads its first frame into hello. The caller checks what it says. Error: delivery_later,
// with a SocketFault as its cause.
func (s Socket) Dial(ctx context.Context, address string, hello any) (*websocket.Conn, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "wss" && u.Scheme != "ws" {
		return nil, s.fault("the address", nil, fmt.Sprintf("that %s's API returned is not that of a websocket "+
			"(wss://)", s.Title), "Something between changes the API's answers. Check "+s.URLKey+" and the proxy "+
			"(HTTPS_PROXY).")
	}
	through := proxy{} // set while it dials
	dialer := websocket.Dialer{Proxy: through.of, HandshakeTimeout: s.Hello, NetDialContext: dialWaking}
	conn, answer, err := dialer.DialContext(ctx, u.String(), nil)
	if answer != nil && answer.Body != nil {
		answer.Body.Close()
	}
	host := u.Hostname()
	switch {
	case err != nil && answer != nil:
		what, mend := s.answered(host, answer)
		return nil, s.fault(host, err, what, mend)
	case err != nil:
		what, mend := s.unreached(host, through.host, err)
		return nil, s.fault(host, err, what, mend)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	conn.SetReadLimit(s.Limit)
	_ = conn.SetReadDeadline(time.Now().Add(s.Hello))
	if err := conn.ReadJSON(hello); err != nil {
		conn.Close()
		return nil, s.NoHello(address, err)
	}
	_ = conn.SetReadDeadline(time.Time{})
	return conn, nil
}

// NoHello is the error of a websocket whose first frame is not what the platform begins with; err nil: it has another
// form.
func (s Socket) NoHello(address string, err error) error {
	var closed *websocket.CloseError
	what, mend := "opens, but its first frame is not "+s.Title+"'s", "Check "+s.URLKey+": something else answers there."
	switch {
	case isTimeout(err):
		what, mend = "opens, but nothing comes over it", "A proxy that holds websockets back is the likely cause: let "+
			"it pass them on."
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		what, mend = fmt.Sprintf("is closed as soon as it opens (%d)", closed.Code), s.outage()
	case closed != nil || errors.Is(err, io.EOF) || failedAt(err, "read"):
		what, mend = "breaks as soon as it opens", "A proxy or a firewall that does not pass websockets is the likely "+
			"cause; or "+s.outage()
	}
	host := "the address"
	if u, err := url.Parse(address); err == nil {
		host = u.Hostname()
	}
	return s.fault(host, err, what, mend)
}

func (s Socket) fault(host string, err error, what, mend string) error {
	f := &SocketFault{What: fmt.Sprintf("%s's websocket at %s %s.", s.Title, host, what), Mend: mend, Err: err}
	return core.Wrap(core.DeliveryLater, f, "%s %s", f.What, f.Mend)
}

func (s Socket) outage() string { return "see whether " + s.Title + " has an outage." }

// answered is what an answer says that opens no websocket.
func (s Socket) answered(host string, r *http.Response) (what, mend string) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	to, err := r.Location()
	login := fmt.Sprintf("A log-in page of the network, or a proxy, stands between: log this machine in, or let it "+
		"reach %s directly.", host)
	switch status := r.StatusCode; {
	case err == nil && status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return fmt.Sprintf("answers with a redirect (%d) to %s", status, to.Hostname()), login
	case status == http.StatusProxyAuthRequired:
		return "is behind a proxy that asks for a password (407)", "Put the name and the password into HTTPS_PROXY."
	case status >= http.StatusInternalServerError, status == http.StatusTooManyRequests:
		return fmt.Sprintf("does not open (%d)", status), "It is tried again; " + s.outage()
	case status < http.StatusMultipleChoices && kind == "text/html":
		return fmt.Sprintf("answers with a page (%d)", status), login
	case kind == "text/html":
		return fmt.Sprintf("answers with a page that refuses it (%d)", status),
			fmt.Sprintf("A proxy is the likely cause: let it pass websockets to %s.", host)
	default:
		return fmt.Sprintf("does not open (%d)", status), fmt.Sprintf("A proxy that passes no websockets is the "+
			"likely cause (let it pass those to %s), or another server behind %s.", host, s.URLKey)
	}
}

// unreached is what an error says of a connection that was not made; proxy is the one that it goes through, "": none.
func (s Socket) unreached(host, proxy string, err error) (what, mend string) {
	var name *net.DNSError
	if errors.As(err, &name) {
		why := name.Err
		if proxy != "" && name.Name != host {
			return fmt.Sprintf("can't be reached, since the name of the proxy %s is not found (%s)", proxy, why),
				"Check HTTPS_PROXY."
		}
		return fmt.Sprintf("can't be reached, since its name is not found (%s)", why),
			"Check this machine's DNS: the name may be blocked, although that of the API is not."
	}
	if what := badCertificate(err); what != "" {
		return "shows a certificate that is not to be trusted: " + what, "A proxy that opens TLS is the likely " +
			"cause: make it leave " + host + " alone, or add its authority to those of this machine " +
			"(SSL_CERT_FILE)."
	}
	allow := fmt.Sprintf("Let this machine, and a firewall or a proxy between, reach %s; it is another host than that "+
		"of the API.", host)
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &plain):
		return "does not answer with TLS", "A proxy or a log-in page answers in its place. " + allow
	case proxy != "" && failedAt(err, "dial"):
		return fmt.Sprintf("can't be reached, since the proxy %s can't be (%v)", proxy, root(err)),
			"Check HTTPS_PROXY."
	case isTimeout(err):
		return "does not answer in time", allow
	case failedAt(err, "dial"):
		return fmt.Sprintf("can't be reached (%v)", root(err)), allow
	case proxy != "" && !failedAt(err, "read"):
		return fmt.Sprintf("can't be reached through the proxy %s (%v)", proxy, root(err)),
			"Check HTTPS_PROXY. " + allow
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), failedAt(err, "read"):
		return fmt.Sprintf("is cut off before it opens (%v)", root(err)), allow
	}
	return fmt.Sprintf("does not answer as one (%v)", root(err)), allow
}

// badCertificate is what is wrong with a certificate, "" if an error is about something else.
func badCertificate(err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var failed *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown) && unknown.Cert != nil:
		return fmt.Sprintf("its issuer %q is unknown", unknown.Cert.Issuer.CommonName)
	case errors.As(err, &name):
		return "it is that of another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired, or the clock of this machine is wrong"
	case errors.As(err, &unknown), errors.As(err, &invalid), errors.As(err, &failed):
		return root(err).Error()
	}
	return ""
}

func isTimeout(err error) bool {
	var late net.Error
	return errors.As(err, &late) && late.Timeout()
}

// failedAt reports whether an operation of a network connection failed, such as dial.
func failedAt(err error, op string) bool {
	var failed *net.OpError
	return errors.As(err, &failed) && failed.Op == op
}

// root returns the innermost error.
func root(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

// proxy is the one that a connection goes through.
type proxy struct{ host string }

// of is http.ProxyFromEnvironment, and remembers the proxy.
func (p *proxy) of(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if u != nil {
		p.host = u.Host
	}
	return u, err
}

// waking is a connection that loses nothing while the process sleeps: stopped, or with its machine paused. A deadline
// that has passed meanwhile says nothing about the other side, and what has arrived is still there to be read.
type waking struct{ net.Conn }

// secondLook is how long a read goes on after its deadline.
const secondLook = 100 * time.Millisecond

// Read reads and, if the deadline has passed, looks again for what had arrived before.
func (c waking) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	_ = c.SetReadDeadline(time.Now().Add(secondLook))
	return c.Conn.Read(p)
}

func dialWaking(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: DialTimeout}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return waking{conn}, nil
}
