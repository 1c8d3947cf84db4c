package login

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"gatehouse/core"
)

// path is where the browser comes back to.
const path = "/callback"

// maxLine is the longest line that a person may paste.
const maxLine = 16 << 10

// back is where the browser comes back to, with the answer of the authorization server.
type back struct {
	flow     *flow
	address  string
	listener net.Listener // nil: the person pastes the address
}

// listen opens the loopback port. A person who pastes needs one on which nothing answers.
func (f *flow) listen() (*back, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, core.Wrap(core.Internal, err, "No port of 127.0.0.1 can be opened for the browser to come back "+
			"to. Use --paste.")
	}
	b := &back{flow: f, address: "http://" + listener.Addr().String() + path, listener: listener}
	if f.paste != nil {
		_ = listener.Close()
		b.listener = nil
	}
	return b, nil
}

func (b *back) close() {
	if b.listener != nil {
		_ = b.listener.Close()
	}
}

// wait waits for the answer that has the state.
func (b *back) wait(ctx context.Context, state string) (url.Values, error) {
	if b.listener == nil {
		return b.pasted(ctx, state)
	}
	found := make(chan url.Values, 1)
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Referrer-Policy", "no-referrer")
			if r.URL.Path != path || r.URL.Query().Get("state") != state {
				http.Error(w, "This is not the login that gatehouse waits for.", http.StatusBadRequest)
				return
			}
			select {
			case found <- r.URL.Query():
			default: // it came before
			}
			_, _ = io.WriteString(w, "gatehouse has the answer. Close this page and look at the terminal.\n")
		}),
	}
	go func() { _ = server.Serve(b.listener) }() // until it is shut down
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(ending) // the browser gets its page
		_ = server.Close()
	}()
	fmt.Fprintf(b.flow.out, "The browser comes back to %s, on this machine. If it runs on another one, use --paste.\n",
		b.address)
	select {
	case answer := <-found:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// pasted reads lines until one is the address with the state.
func (b *back) pasted(ctx context.Context, state string) (url.Values, error) {
	fmt.Fprintf(b.flow.out, "The browser ends at a page that it can't show. Paste that page's address here and press "+
		"Enter. It begins with %s:\n", b.address)
	type result struct {
		answer url.Values
		err    error
	}
	done := make(chan result, 1)
	go func() {
		lines := bufio.NewScanner(b.flow.paste)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			u, err := url.Parse(strings.TrimSpace(lines.Text()))
			if err == nil && u.Query().Get("state") == state {
				done <- result{answer: u.Query()}
				return
			}
			fmt.Fprintln(b.flow.out, "That is not the address of this login. Paste the whole address that the "+
				"browser ended at:")
		}
		done <- result{err: core.Errorf(core.Invalid,
			"No address of this login was pasted, and nothing was stored. Run the command again, and use the address "+
				"that it prints.")}
	}()
	select {
	case r := <-done:
		return r.answer, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// codeOf checks an answer that has the state, and gives the code in it.
func codeOf(answer url.Values, meta *oauthex.AuthServerMeta) (string, error) {
	issuer := answer.Get("iss")
	if issuer != meta.Issuer && (issuer != "" || meta.AuthorizationResponseIssParameterSupported) {
		return "", core.Errorf(core.Unauthorized,
			"The answer came from the authorization server %q, and %q was asked: somebody may be trying to steal the "+
				"login. Nothing was stored.",
			issuer, meta.Issuer)
	}
	if refused := answer.Get("error"); refused != "" {
		return "", core.Errorf(core.Unauthorized, "The authorization server %s refused the login%s.",
			meta.Issuer, detail(refused, answer.Get("error_description")))
	}
	if answer.Get("code") == "" {
		return "", core.Errorf(core.Unauthorized, "The authorization server %s answered without a code. Run the "+
			"command again.", meta.Issuer)
	}
	return answer.Get("code"), nil
}
