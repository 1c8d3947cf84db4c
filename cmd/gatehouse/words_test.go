package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core/llm/llmtest"
)

// httpGet reads a page.
func httpGet(t *testing.T, url string) (status int, body string) {
	t.Helper()
	answer, err := http.Get(url)
	noErr(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	noErr(t, err)
	return answer.StatusCode, string(text)
}

// Texts of a vendor that nobody but the admin may read. The key is of another account: gatehouse can't know it.
const (
	foreignKey = "sk-proj-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
	rawWords   = "Incorrect key " + foreignKey + " at llm.internal.example: your account acct_77 owes 12 dollars"
	setUp      = "The bot is not set up correctly. Ask whoever runs it to run gatehouse doctor."
	byVendor   = "what the vendor's errors tell apart"
)

// cantRead is what people read of content that a model can't take: OpenAI's errors do not tell it from other faults.
var cantRead = map[string]string{"openai": setUp, "anthropic": "can't read a part of it"}

// TestLaw8_AVendorsWordsReachNobody: of each error of a model people read our sentence, on a platform and through the
// engine; the vendor's words are in the log and for admins, with the keys masked.
func TestLaw8_AVendorsWordsReachNobody(t *testing.T) {
	status := func(code int, kind, words string) func(fakeVendor) llmtest.Answer {
		return func(v fakeVendor) llmtest.Answer { return v.fail(code, kind, words) }
	}
	for name, c := range map[string]struct {
		answer func(fakeVendor) llmtest.Answer
		reads  string
	}{
		"provider_authentication": {
			status(http.StatusUnauthorized, "authentication_error", rawWords), setUp,
		},
		"provider_authentication, billing": {status(http.StatusPaymentRequired, "billing_error", rawWords), setUp},
		"provider_invalid_model": {status(http.StatusNotFound, "not_found_error",
			"no such model "+rawWords), setUp},
		"provider_invalid_request": {
			status(http.StatusBadRequest, "invalid_request_error", rawWords), setUp,
		},
		"provider_invalid_request, too long": {status(http.StatusBadRequest, "invalid_request_error",
			"prompt is too long, too many tokens: "+rawWords), "too long for the model"},
		"provider_invalid_request, too large": {
			status(http.StatusRequestEntityTooLarge, "request_too_large", rawWords), "too long for the model",
		},
		"provider_unsupported_content_block": {status(http.StatusBadRequest, "invalid_request_error",
			"content block type is not supported: "+rawWords), byVendor},
		"provider_rate_limit": {
			status(http.StatusTooManyRequests, "rate_limit_error", rawWords), "I had trouble responding",
		},
		"provider_unavailable": {status(http.StatusBadGateway, "api_error", rawWords), "I had trouble responding"},
		"provider_model_not_loaded": {status(http.StatusServiceUnavailable, "overloaded_error",
			"Loading model "+rawWords), "I had trouble responding"},
		"provider_invalid_response": {func(fakeVendor) llmtest.Answer {
			return llmtest.Answer{Body: []byte("<html>" + rawWords)}
		}, "gave an answer that can't be used"},
		"provider_invalid_response, a redirect": {func(fakeVendor) llmtest.Answer {
			return llmtest.Answer{Status: http.StatusNotModified, Body: []byte(rawWords)}
		}, "gave an answer that can't be used"},
		"provider_unavailable, a broken answer ": {func(fakeVendor) llmtest.Answer {
			return llmtest.Answer{Trouble: llmtest.Drop}
		}, "I had trouble responding"},
	} {
		t.Run(name, func(t *testing.T) {
			onEachVendor(t, func(t *testing.T, v fakeVendor) {
				t.Parallel()
				s := serveModel(t, v, map[string]string{"GATEHOUSE_MODEL_TIMEOUT": "500ms"})
				v.Think(func(llmtest.Received) llmtest.Answer { return c.answer(v) })
				s.ann.Says("hello")
				heard := string(newShell(t, s.base, "").send(request("r1", "s1", "hello")).Raw)
				vendor, _, _ := strings.Cut(v.env["GATEHOUSE_MODEL"], ":")
				s.reads(s.dm, "", strings.Replace(c.reads, byVendor, cantRead[vendor], 1))
				heard += s.slack.Dump()
				for _, theirs := range []string{
					foreignKey[:12], "llm.internal.example", "acct_77", "dollars", "127.0.0.1", "API_KEY", "GATEHOUSE_",
					"billing", "test-0123",
				} {
					if strings.Contains(heard, theirs) {
						t.Errorf("people read %q: %s", theirs, heard)
					}
				}
				_, told := s.command("turns", "list", "--json")
				if told += s.log.String(); strings.Contains(told, foreignKey) ||
					strings.Contains(told, "test-0123456789") {
					t.Errorf("a key is in what admins read: %s", told)
				}
			})
		})
	}
}

// TestLaw9_ARefusedKeyIsNoted: /readyz stays 200 and names the model until it answers again, the log and doctor have
// the vendor's words, masked.
func TestLaw9_ARefusedKeyIsNoted(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, nil)
		read := func(path string) (int, string) { return httpGet(t, s.base+path) }
		s.ready(http.StatusOK)
		if _, body := read("/readyz"); strings.Contains(body, "key refused") {
			t.Errorf("before any call: %s", body)
		}
		v.Then(v.fail(http.StatusUnauthorized, "authentication_error", rawWords))
		s.ann.Says("hello")
		s.reads(s.dm, "", setUp)
		_, model, _ := strings.Cut(v.env["GATEHOUSE_MODEL"], ":")
		if code, body := read("/readyz"); code != http.StatusOK ||
			!strings.Contains(body, "model "+model+": key refused") {
			t.Errorf("%d: %s", code, body)
		}
		if _, body := read("/metrics"); !strings.Contains(body, `gatehouse_model_up{model="`+model+`"} 0`) {
			t.Error(body)
		}
		if log := s.log.String(); !strings.Contains(log, "acct_77 owes 12 dollars") ||
			strings.Contains(log, foreignKey) {
			t.Errorf("the log has not the vendor's words, or the key: %s", log)
		}
		v.Then(v.say("Here I am."))
		s.ann.Says("again")
		s.reads(s.dm, "", "Here I am.")
		if code, body := read("/readyz"); code != http.StatusOK || strings.Contains(body, "key refused") {
			t.Errorf("after an answer, %d: %s", code, body)
		}
		if _, body := read("/metrics"); !strings.Contains(body, `gatehouse_model_up{model="`+model+`"} 1`) {
			t.Error(body)
		}
	})
}

// TestSentencesOfCategoriesAreReplaced: a key of GATEHOUSE_REPLIES with a category's name replaces its sentence; the
// keys of before mean what they did, and what others say can't be asked for.
func TestSentencesOfCategoriesAreReplaced(t *testing.T) {
	v := vendors["OpenAI"](t)
	file := filepath.Join(t.TempDir(), "replies.yaml")
	write := func(text string) {
		noErr(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("provider_authentication: Der Bot ist falsch eingerichtet.\nuser_correctable: \"Das ging nicht: " +
		"{diagnostic}!\"\nstopped: Halt.\noutcome_unknown: \"Unklar: %s\"\n")
	s := serveModel(t, v, map[string]string{"GATEHOUSE_REPLIES": file})
	v.Then(v.fail(http.StatusUnauthorized, "authentication_error", rawWords))
	s.ann.Says("hello")
	s.reads(s.dm, "", "Das ging nicht: Der Bot ist falsch eingerichtet!")
	write("provider_authentication: \"Sie sagt: {message}\"\n")
	if code, out := s.command("doctor", "--quick"); code == 0 ||
		!strings.Contains(out, file+":1:26: provider_authentication must not have {message}") {
		t.Errorf("%d: %s", code, out)
	}
}
