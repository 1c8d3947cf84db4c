package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

func status(code int, s string) llmtest.Answer { return llmtest.Answer{Status: code, Body: []byte(s)} }

func TestErrorsHaveTheirCategory(t *testing.T) {
	image := llm.Request{Messages: []core.Message{{
		Role: core.User,
		Content: core.Blocks(
			core.Block{
				Type:   core.ImageBlock,
				Source: &core.ImageSource{Type: core.SourceURL, URL: "https://example.org/a.png"},
			}),
	}}}
	for name, c := range map[string]struct {
		answer llmtest.Answer
		r      llm.Request
		want   core.Category
		says   string
	}{
		"a wrong key": {
			llmtest.OpenAIFault(401, "invalid_api_key", "Incorrect API key provided: "+key), question,
			core.ProviderAuthentication, "refuses the API key",
		},
		"no permission":          {status(403, ``), question, core.ProviderAuthentication, "refuses the API key"},
		"a log-in page in front": {status(401, `<html>`), question, core.ProviderUnavailable, "in front of"},
		"a proxy in front":       {status(407, ``), question, core.ProviderUnavailable, "HTTPS_PROXY"},
		"no money": {
			status(402, `{"error":"pay"}`), question, core.ProviderAuthentication, "refuses the API key",
		},
		"no such model": {
			llmtest.OpenAIFault(404, "model_not_found", "The model does not exist"), question,
			core.ProviderInvalidModel, "does not know the model gpt-test",
		},
		"no such model, at vLLM": {status(404,
			`{"object":"error","message":"The model x does not exist.","type":"NotFoundError","code":404}`), question,
			core.ProviderInvalidModel, ""},
		"no such model, in Ollama": {
			status(404, `{"error":"model 'x' not found, try pulling it first"}`), question, core.ProviderInvalidModel,
			"",
		},
		"no such path": {
			status(404, `404 page not found`), question, core.ProviderInvalidRequest, "OPENAI_BASE_URL",
		},
		"loading": {status(503,
			`{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`), question,
			core.ProviderModelNotLoaded, "still loading"},
		"not loaded": {
			status(503, `{"error":{"code":"model_not_loaded"}}`), question, core.ProviderModelNotLoaded, "",
		},
		"overloaded": {status(503,
			`{"error":{"message":"That model is currently overloaded with other requests."}}`), question,
			core.ProviderUnavailable, "can't answer now (503)"},
		"too many requests": {
			status(429, `{"error":{"message":"slow down"}}`), question, core.ProviderRateLimit, "asks to wait",
		},
		"internal":          {status(500, `oops`), question, core.ProviderUnavailable, ""},
		"a gateway's page":  {status(502, `<html>`), question, core.ProviderUnavailable, ""},
		"a redirect":        {status(304, ``), question, core.ProviderInvalidResponse, ""},
		"a request timeout": {status(408, ``), question, core.ProviderUnavailable, ""},
		"a bad field": {
			llmtest.OpenAIFault(400, "invalid_request_error", "bad field "+key), question, core.ProviderInvalidRequest,
			"bad field (the API key)",
		},
		"not processable": {
			status(422, `{"detail":"no such field"}`), question, core.ProviderInvalidRequest, "no such field",
		},
		"too long": {llmtest.OpenAIFault(400, "context_length_exceeded",
			"maximum context length is 8192 tokens"), question, core.ProviderInvalidRequest,
			"too long for the model gpt-test"},
		"too large": {status(413, ``), question, core.ProviderInvalidRequest, "too long"},
		"an image refused": {llmtest.OpenAIFault(400, "invalid_request_error",
			"This model does not support image inputs."), image, core.ProviderUnsupportedContent,
			"does not support image inputs"},
		"an image not asked about": {llmtest.OpenAIFault(400, "invalid_request_error",
			"This model does not support image inputs."), question, core.ProviderInvalidRequest, ""},
		"a bad field beside one": {
			llmtest.OpenAIFault(400, "invalid_request_error", "bad field"), image, core.ProviderInvalidRequest, "",
		},
		"a body that breaks off": {
			status(400, `{"error":{"message":"bad field"}}`).With(llmtest.Truncate), question,
			core.ProviderInvalidRequest, "",
		},
		"an endless error": {status(500, `{`).With(llmtest.Endless), question, core.ProviderUnavailable, ""},
		"a closed connection": {
			status(200, ``).With(llmtest.Drop), question, core.ProviderUnavailable, "is not reachable",
		},
	} {
		fake, p := start(t, openai.Config{MaxResponse: 1 << 20}, c.answer, llmtest.OpenAISay("a second attempt"))
		_, err := p.Complete(t.Context(), c.r)
		noKey(t, err)
		if core.CategoryOf(err) != c.want || !strings.Contains(core.MessageOf(err), c.says) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if fake.Left() != 1 {
			t.Errorf("%s: it was tried again", name)
		}
	}
}

func TestAWaitIsPassedOn(t *testing.T) {
	for _, code := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		_, p := start(t, openai.Config{}, status(code, `{}`).After("7"))
		if _, err := p.Complete(t.Context(), question); core.RetryAfterOf(err) != 7*time.Second {
			t.Errorf("%d: %s", code, core.RetryAfterOf(err))
		}
	}
}

func TestNobodyListens(t *testing.T) {
	fake, p := start(t, openai.Config{})
	fake.Close()
	for _, err := range []error{p.Ready(t.Context()), func() error {
		_, err := p.Complete(t.Context(), question)
		return err
	}()} {
		if core.CategoryOf(err) != core.ProviderUnavailable {
			t.Error(err)
		}
	}
}

func TestReady(t *testing.T) {
	list := func(entry string) llmtest.Answer {
		return body(`{"object":"list","data":[{"id":"other"},` + entry + `]}`)
	}
	for name, c := range map[string]struct {
		answer llmtest.Answer
		want   core.Category
	}{
		"listed":               {list(`{"id":"gpt-test"}`), ""},
		"loaded":               {list(`{"id":"gpt-test","status":"loaded"}`), ""},
		"as Ollama names it":   {list(`{"id":"gpt-test:latest"}`), ""},
		"not loaded":           {list(`{"id":"gpt-test","status":"not_loaded"}`), core.ProviderModelNotLoaded},
		"not loaded, by state": {list(`{"id":"gpt-test","state":"not-loaded"}`), core.ProviderModelNotLoaded},
		"loading, in llama":    {list(`{"id":"gpt-test","status":{"value":"loading"}}`), core.ProviderModelNotLoaded},
		"not listed":           {list(`{"id":"gpt-tes"}`), core.ProviderInvalidModel},
		"an empty list":        {body(`{"data":[]}`), core.ProviderInvalidModel},
		"no list":              {body(`{}`), core.ProviderUnavailable},
		"a page":               {body(`<html>`), core.ProviderUnavailable},
		"refused":              {status(401, `{}`), core.ProviderAuthentication},
		"no such path":         {status(404, `404 page not found`), core.ProviderUnavailable},
		"limited":              {status(429, ``), core.ProviderUnavailable},
		"down":                 {status(500, ``), core.ProviderUnavailable},
		"closed":               {status(200, ``).With(llmtest.Drop), core.ProviderUnavailable},
	} {
		fake, p := start(t, openai.Config{})
		fake.List = func() llmtest.Answer { return c.answer }
		if err := p.Ready(t.Context()); core.CategoryOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	for name, c := range map[string]openai.Config{
		"a line break": {APIKey: "sk-\n"}, "no host": {BaseURL: "localhost:11434/v1"},
		"a user": {BaseURL: "https://u:p@example.org/v1"}, "a query": {BaseURL: "https://example.org/v1?key=x"},
	} {
		if _, err := openai.New("m", c); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := openai.New("", openai.Config{}); core.CategoryOf(err) != core.Invalid {
		t.Error("a model without a name")
	}
}

// A key that is short is hidden where it stands alone; it is no part of words. One that is in the model's name is no
// secret.
func TestAShortKeyIsNoPartOfAWord(t *testing.T) {
	for short, want := range map[string]string{
		"no": "nothing for the key (the API key)", "gpt": "nothing for the key gpt",
	} {
		fake := llmtest.NewOpenAI(llmtest.OpenAIFault(400, "x", "nothing for the key "+short))
		t.Cleanup(fake.Close)
		p, err := openai.New("gpt-test", openai.Config{APIKey: short, BaseURL: fake.URL + "/v1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.Complete(t.Context(), question); !strings.HasSuffix(core.MessageOf(err), want) {
			t.Errorf("%s: %v", short, err)
		}
	}
}
