package modelapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// Call is one HTTP call of a vendor's API.
type Call struct {
	Path   string            // below the base URL, without a slash before it
	Header map[string]string // beside those of the endpoint
	Body   []byte            // JSON; nil: the call is a GET
	// takes the events of an answer that comes as a stream, asked for or not; nil: none is expected
	Stream Assembly
}

// Answer is what came over the wire.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // of a stream: what its Assembly made of it

	fault error // of reading the body, which is then a part of it
	large bool  // there was more than the limit
}

// Bad reports whether the status says that the call failed.
func (a Answer) Bad() bool { return a.Status >= http.StatusMultipleChoices }

// maxRefusal is how much is read of an answer with a bad status. The rest is cut.
const maxRefusal = 64 << 10

// Send makes one call. An answer with a bad status is an answer; what of its body is there may say more. A server that
// was asked for a stream and answers at once is understood too, and so is one that streams unasked. Errors:
// provider_unavailable and provider_invalid_response where there is no whole answer, or the cause of a context that has
// ended (llm.Interrupted).
func (e *Endpoint) Send(ctx context.Context, c Call) (Answer, error) {
	w, end := e.watch(ctx)
	defer end()
	a, err := e.exchange(w, c)
	if err == nil {
		err = a.fault
	}
	if a.Status != 0 && (a.Bad() || a.fault == nil && !a.large) {
		return a, nil
	}
	if interrupted := llm.Interrupted(ctx); interrupted != nil {
		return a, interrupted
	}
	switch {
	case a.large:
		return a,
			e.Failed(core.ProviderInvalidResponse, nil, "%s gave an answer of more than %d bytes.", e.Place,
				e.MaxResponse)
	case w.silent():
		return a, e.Failed(core.ProviderUnavailable, err, "%s sent nothing for %s.", e.Place, e.Silence)
	case errors.Is(err, context.DeadlineExceeded):
		return a, e.Failed(core.ProviderUnavailable, err, "%s did not answer within %s.", e.Place, e.Timeout)
	case a.Status != 0:
		return a,
			e.Failed(core.ProviderUnavailable, err, "The connection to %s ended in the middle of its answer.", e.Place)
	}
	return a, e.Failed(core.ProviderUnavailable, err, "%s is not reachable.", e.Place)
}

func (e *Endpoint) exchange(w *watch, c Call) (Answer, error) {
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if c.Body != nil {
		method, body = http.MethodPost, bytes.NewReader(c.Body)
	}
	r, err := http.NewRequestWithContext(w.ctx, method, strings.TrimSuffix(e.BaseURL, "/")+"/"+c.Path, body)
	if err != nil {
		return Answer{}, err
	}
	r.Header.Set("Accept", "application/json")
	if c.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, headers := range []map[string]string{e.Headers, c.Header} {
		for name, value := range headers {
			r.Header.Set(name, value)
		}
	}
	res, err := e.client.Do(r)
	if err != nil {
		var broken *url.Error // its text repeats the address
		if errors.As(err, &broken) {
			err = broken.Err
		}
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }() // all that is wanted was read
	return e.read(w, res, c.Stream), nil
}

// read takes the body out of a response.
func (e *Endpoint) read(w *watch, res *http.Response, stream Assembly) Answer {
	a := Answer{Status: res.StatusCode, Header: res.Header}
	most := e.MaxResponse
	if a.Bad() {
		most = maxRefusal
	}
	body := &limited{from: w.over(res.Body), left: most}
	text := bufio.NewReader(body)
	if stream != nil && !a.Bad() && streams(text, res.Header.Get("Content-Type")) {
		a.Body, a.fault = assemble(text, stream)
	} else {
		a.Body, a.fault = io.ReadAll(text)
	}
	var inside *StreamError
	switch {
	case body.left < 0:
		a.large, a.fault = true, nil
	case errors.As(a.fault, &inside):
		a.Status, a.Body, a.fault = inside.Status, inside.Body, nil
	}
	return a
}

// bom may stand before a text, in UTF-8.
const bom = "\ufeff"

// streams reports whether a text is a stream of events. Proxies name its type wrongly, and that of an answer at once.
// How the text begins tells more: JSON in one way, the fields of events and comments in another.
func streams(text *bufio.Reader, kind string) bool {
	if begin, _ := text.Peek(len(bom)); string(begin) == bom {
		_, _ = text.Discard(len(bom))
	}
	for {
		first, _ := text.Peek(1)
		switch string(first) {
		case " ", "\t", "\r", "\n":
			_, _ = text.Discard(1)
			continue
		case "{", "[", `"`:
			return false
		case ":", "d", "e", "i", "r":
			return true
		}
		return strings.HasPrefix(strings.ToLower(kind), "text/event-stream")
	}
}

// limited reads as many bytes as are left, and then ends; left is negative if there were more.
type limited struct {
	from io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), l.left+1)]
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n - 1, io.EOF
	}
	return n, err
}
