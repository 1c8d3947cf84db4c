package anthropic

import (
	"errors"
	"io"
	"net/http"
)

// maxErrorBody is how much of an error's body is read. The rest is cut.
const maxErrorBody = 64 << 10

var errTooLarge = errors.New("the answer is larger than the limit")

// httpClient limits answers, and follows no redirect: the key would go along to the other address.
func httpClient(c Config) *http.Client {
	return &http.Client{
		Transport:     limited{c.Transport, c.MaxResponse},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type limited struct {
	next http.RoundTripper
	max  int64
}

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= http.StatusBadRequest {
		res.Body = body{io.LimitReader(res.Body, maxErrorBody), res.Body}
	} else {
		res.Body = body{&tooLarge{res.Body, l.max}, res.Body}
	}
	return res, nil
}

type body struct {
	io.Reader
	io.Closer
}

// tooLarge reads left bytes and fails if there is another one.
type tooLarge struct {
	r    io.Reader
	left int64
}

func (t *tooLarge) Read(p []byte) (int, error) {
	if int64(len(p)) > t.left+1 {
		p = p[:t.left+1]
	}
	n, err := t.r.Read(p)
	if int64(n) > t.left {
		n, t.left = int(t.left), 0
		return n, errTooLarge
	}
	t.left -= int64(n)
	return n, err
}
