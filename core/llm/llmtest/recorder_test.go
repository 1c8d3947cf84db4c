package llmtest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core/llm/llmtest"
)

// TestARecordingIsReplayedAndHasNoKeys: what the server said is given again, without the server, and no secret is in
// the file.
func TestARecordingIsReplayedAndHasNoKeys(t *testing.T) {
	const question = `{"model":"m","messages":[{"role":"user","content":"my key is sk-secret"}]}`
	fake := llmtest.NewOpenAI(llmtest.OpenAISay("sk-secret is not for me"),
		llmtest.OpenAIFault(429, "rate_limit_exceeded", "slow down").After("7"))
	defer fake.Close()
	recorder := &llmtest.Recorder{Next: http.DefaultTransport, Secrets: []string{"sk-secret"}}
	client := &http.Client{Transport: recorder}
	postOpenAI(t, client, fake.URL, question)
	postOpenAI(t, client, fake.URL, question)
	file := filepath.Join(t.TempDir(), "recording.json")
	if err := recorder.Save(file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(data), "sk-secret") ||
		!strings.Contains(string(data), "my key is SECRET") {
		t.Fatalf("%v: %s", err, data)
	}

	replayed, err := llmtest.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	replayed.Secrets = []string{"sk-secret"}
	client = &http.Client{Transport: replayed}
	const nowhere = "http://127.0.0.1:1"
	if status, answer := postOpenAI(t, client, nowhere, question); status != http.StatusOK ||
		!strings.Contains(answer, "SECRET is not for me") {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := postOpenAI(t, client, nowhere, question); status != http.StatusTooManyRequests ||
		!strings.Contains(answer, "slow down") || replayed.Left() != 0 {
		t.Errorf("%d %s", status, answer)
	}
	if e := replayed.Exchanges()[1]; e.Header["Retry-After"] != "7" {
		t.Errorf("the headers are %v", e.Header)
	}
	res, err := client.Post(nowhere+"/v1/chat/completions", "application/json", strings.NewReader(question))
	if err == nil {
		_ = res.Body.Close()
		t.Error("a call was replayed twice")
	}
}
