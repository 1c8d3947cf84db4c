package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// answer is what came over the wire.
type answer struct {
	status int
	header http.Header
	body   []byte
	fault  error // of reading the body; then body is a part of it
	large  bool  // there was more than Config.MaxResponse
}

// send makes one call. It returns an error if there is no whole answer; an answer with a bad status is an answer.
func (p *Provider) send(ctx context.Context, method, path string, body []byte) (answer, error) {
	var a answer
	options := []option.RequestOption{option.WithMiddleware(p.keep(&a))}
	if body != nil {
		options = append(options, option.WithRequestBody("application/json", body))
	}
	var ignored *http.Response // keep has read it, with a limit; the SDK's own reading has none
	err := p.client.Execute(ctx, method, path, nil, &ignored, options...)
	if interrupted := llm.Interrupted(ctx); interrupted != nil {
		return a, interrupted
	}
	switch {
	case a.status == 0 && errors.Is(err, context.DeadlineExceeded):
		return a, p.failed(core.ProviderUnavailable, err, "%s did not answer within %s.", p.place(), p.config.Timeout)
	case a.status == 0:
		return a, p.failed(core.ProviderUnavailable, err, "%s is not reachable.", p.place())
	case a.status >= http.StatusMultipleChoices:
		return a, nil // what is there of the body may say more
	case a.large:
		return a, p.failed(core.ProviderInvalidResponse, nil, "%s gave an answer of more than %d bytes.", p.place(), p.config.MaxResponse)
	case a.fault != nil:
		return a, p.failed(core.ProviderUnavailable, a.fault, "The connection to %s ended in the middle of its answer.", p.place())
	}
	return a, nil
}

// keep reads the answer, at most as many bytes as are allowed, before the SDK does.
func (p *Provider) keep(a *answer) option.Middleware {
	return func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		res, err := next(req)
		if err != nil {
			return res, err
		}
		a.status, a.header = res.StatusCode, res.Header
		a.body, a.fault = io.ReadAll(io.LimitReader(res.Body, p.config.MaxResponse+1))
		_ = res.Body.Close() // all that is wanted was read
		if int64(len(a.body)) > p.config.MaxResponse {
			a.body, a.large = a.body[:p.config.MaxResponse], true
		}
		res.Body = io.NopCloser(bytes.NewReader(nil))
		return res, nil
	}
}

// failed makes an error. Its texts have no API key, whoever wrote them, and its cause is a text: the SDK's errors carry the request.
func (p *Provider) failed(c core.Category, cause error, format string, args ...any) *core.Error {
	e := core.Errorf(c, format, args...)
	e.Message = p.scrub(e.Message)
	if cause != nil {
		e.Err = errors.New(p.scrub(cause.Error()))
	}
	return e
}

func (p *Provider) scrub(text string) string {
	if p.config.APIKey == "" {
		return text
	}
	return strings.ReplaceAll(text, p.config.APIKey, "(the API key)")
}
