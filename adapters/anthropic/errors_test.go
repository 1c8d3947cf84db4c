package anthropic_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/anthropic"
	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
)

func TestErrorsOfTheAPI(t *testing.T) {
	for _, c := range []struct {
		status        int
		kind, message string
		image         bool
		want          core.Category
	}{
		{400, "invalid_request_error", "bad field", false, core.ProviderInvalidRequest},
		{
			400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", false,
			core.ProviderInvalidRequest,
		},
		{
			400, "invalid_request_error", "image source not supported by this model", true,
			core.ProviderUnsupportedContent,
		},
		{
			400, "invalid_request_error", "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum", true,
			core.ProviderUnsupportedContent,
		},
		{400, "invalid_request_error", "tools.0.name: image", false, core.ProviderInvalidRequest},
		{
			400, "invalid_request_error", "this model does not support the content block redacted_thinking", false,
			core.ProviderUnsupportedContent,
		},
		{401, "authentication_error", "invalid x-api-key", false, core.ProviderAuthentication},
		{402, "billing_error", "pay", false, core.ProviderAuthentication},
		{403, "permission_error", "no", false, core.ProviderAuthentication},
		{404, "not_found_error", "model: x", false, core.ProviderInvalidModel},
		{408, "timeout_error", "slow", false, core.ProviderUnavailable},
		{413, "request_too_large", "big", false, core.ProviderInvalidRequest},
		{429, "rate_limit_error", "slow down", false, core.ProviderRateLimit},
		{500, "api_error", "internal", false, core.ProviderUnavailable},
		{504, "timeout_error", "slow", false, core.ProviderUnavailable},
		{529, "overloaded_error", "busy", false, core.ProviderUnavailable},
	} {
		fake, p := open(t, llmtest.AnthropicFault(c.status, c.kind, c.message+" "+key))
		r := hello()
		if c.image {
			r = request(core.Message{Role: core.User, Content: core.Blocks(image("image/png", "aGk="))})
		}
		_, err := p.Complete(t.Context(), r)
		if core.CategoryOf(err) != c.want || core.MessageOf(err) == "" {
			t.Errorf("%d %s: %v, want %s", c.status, c.message, err, c.want)
		}
		if !strings.Contains(err.Error(), c.message) || !strings.Contains(err.Error(), "req_fake") {
			t.Errorf("%d: the log has no reason: %v", c.status, err)
		}
		noKey(t, err)
		if n := len(fake.Calls()); n != 1 {
			t.Errorf("%d: %d requests, want 1: nothing is repeated here", c.status, n)
		}
	}
}

func noKey(t *testing.T, err error) {
	t.Helper()
	for link := err; link != nil; link = errors.Unwrap(link) {
		if text := fmt.Sprintf("%v %+v %#v", link, link, link); strings.Contains(text, key) {
			t.Errorf("the key is in %s", text)
		}
	}
}

func TestAWaitIsPassedOn(t *testing.T) {
	for _, status := range []int{429, 529} {
		_, p := open(t, llmtest.AnthropicFault(status, "some_error", "later").After("7"))
		if _, err := p.Complete(t.Context(), hello()); core.RetryAfterOf(err) != 7*time.Second {
			t.Errorf("%d: %s", status, core.RetryAfterOf(err))
		}
	}
}

func TestTheNetworkFails(t *testing.T) {
	answer := llmtest.AnthropicSay(strings.Repeat("long ", 1000))
	for name, c := range map[string]struct {
		answer llmtest.Answer
		want   core.Category
	}{
		"dropped":    {answer.With(llmtest.Drop), core.ProviderUnavailable},
		"broken off": {answer.With(llmtest.Truncate), core.ProviderUnavailable},
		"error broken off": {llmtest.AnthropicFault(401,
			"authentication_error", strings.Repeat("no ", 100)).With(llmtest.Truncate), core.ProviderAuthentication},
		"not JSON":        {llmtest.Answer{Status: 502, Body: []byte("<html>bad gateway")}, core.ProviderUnavailable},
		"a text as error": {llmtest.Answer{Status: 503, Body: []byte(`"busy"`)}, core.ProviderUnavailable},
		"an endless error": {
			llmtest.AnthropicFault(500, "api_error", "no").With(llmtest.Endless), core.ProviderUnavailable,
		},
		"endless":          {answer.With(llmtest.Endless), core.ProviderInvalidResponse},
		"half of the JSON": {llmtest.Answer{Body: answer.Body[:100]}, core.ProviderInvalidResponse},
	} {
		fake, p := openWith(t, anthropic.Config{MaxResponse: 10000}, c.answer)
		_, err := p.Complete(t.Context(), hello())
		if core.CategoryOf(err) != c.want || core.MessageOf(err) == "" || len(fake.Calls()) != 1 {
			t.Errorf("%s: %v after %d requests, want %s", name, err, len(fake.Calls()), c.want)
		}
	}
	fake, p := open(t)
	fake.Close()
	if _, err := p.Complete(t.Context(), hello()); core.CategoryOf(err) != core.ProviderUnavailable {
		t.Errorf("nobody listens: %v", err)
	}
}

func TestATimeoutAndAStop(t *testing.T) {
	stall := llmtest.AnthropicSay("late").With(llmtest.Stall)
	_, p := openWith(t, anthropic.Config{Timeout: time.Millisecond}, stall)
	if _, err := p.Complete(t.Context(), hello()); core.CategoryOf(err) != core.ProviderUnavailable {
		t.Errorf("its own timeout: %v", err)
	}
	_, p = open(t, stall, stall)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := p.Complete(ctx, hello()); core.CategoryOf(err) != core.ProviderUnavailable {
		t.Errorf("the caller's deadline: %v", err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(core.Errorf(core.Stopped, "Stopped."))
	if _, err := p.Complete(ctx, hello()); core.CategoryOf(err) != core.Stopped {
		t.Errorf("stopped: %v", err)
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the key went to another host: %v", r.Header)
	}))
	defer other.Close()
	fake, p := open(t, llmtest.Answer{Status: 307, Header: map[string]string{"Location": other.URL}})
	_, err := p.Complete(t.Context(), hello())
	if core.CategoryOf(err) != core.ProviderInvalidResponse || len(fake.Calls()) != 1 {
		t.Error(err)
	}
}

func TestReady(t *testing.T) {
	fake, p := open(t)
	if err := p.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	ready := func(apiKey, model string) core.Category {
		p, err := anthropic.New(model, anthropic.Config{APIKey: apiKey, BaseURL: fake.URL})
		if err != nil {
			t.Fatal(err)
		}
		return core.CategoryOf(p.Ready(t.Context()))
	}
	for _, model := range []string{"claude-none", "../x?y"} {
		if got := ready(key, model); got != core.ProviderInvalidModel {
			t.Errorf("%s: %s", model, got)
		}
	}
	if got := ready("sk-other", "claude-test"); got != core.ProviderAuthentication {
		t.Errorf("another key: %s", got)
	}
	fake.Then(llmtest.AnthropicFault(429, "rate_limit_error", "slow").After("3"),
		llmtest.AnthropicFault(529, "overloaded_error", "busy"))
	if err := p.Ready(t.Context()); core.CategoryOf(err) != core.ProviderUnavailable ||
		core.RetryAfterOf(err) != 3*time.Second {
		t.Errorf("429: %v", err)
	}
	if err := p.Ready(t.Context()); core.CategoryOf(err) != core.ProviderUnavailable {
		t.Errorf("529: %v", err)
	}
}

func TestATextOnlyModelIsSentNoImage(t *testing.T) {
	fake, p := openWith(t, anthropic.Config{TextOnly: true})
	_, err := p.Complete(t.Context(),
		request(core.Message{Role: core.User, Content: core.Blocks(image("image/png", "aGk="))}))
	if core.CategoryOf(err) != core.ProviderUnsupportedContent || len(fake.Calls()) != 0 {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]anthropic.Config{
		"empty":            {},
		"key with newline": {APIKey: key + "\n"},
		"address":          {APIKey: key, BaseURL: "api.anthropic.com"},
		"password":         {APIKey: key, BaseURL: "https://me:" + key + "@example.com"},
	} {
		if _, err := anthropic.New("m", c); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v", name, err)
		} else {
			noKey(t, err)
		}
	}
	if _, err := anthropic.New("", anthropic.Config{APIKey: key}); core.CategoryOf(err) != core.Invalid {
		t.Errorf("no model: %v", err)
	}
}
