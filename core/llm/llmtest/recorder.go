package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
)

// Recorder is a transport for HTTP clients. With a Next it passes calls on and keeps the exchanges, for Save; without,
// it replays the file that Load read: each exchange once, to a call of the same method, path and body. Nothing secret
// is kept: of the headers only a few of the answer's, and in bodies and paths each of Secrets is replaced.
type Recorder struct {
	Next    http.RoundTripper
	Secrets []string // replaced wherever they stand; such as the API key

	mu        sync.Mutex
	exchanges []Exchange
	replayed  []bool
}

// Exchange is a call and its answer.
type Exchange struct {
	Method   string            `json:"method"`
	Path     string            `json:"path"`
	Request  string            `json:"request,omitempty"`
	Status   int               `json:"status"`
	Header   map[string]string `json:"header,omitempty"`
	Response string            `json:"response"`
}

// keptHeaders are the headers of an answer that are recorded.
var keptHeaders = []string{"Content-Type", "Retry-After", "Retry-After-Ms"}

// Load reads a recording to replay.
func Load(file string) (*Recorder, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Recorder{}
	if err := json.Unmarshal(data, &r.exchanges); err != nil {
		return nil, fmt.Errorf("reading the recording %s: %w", file, err)
	}
	r.replayed = make([]bool, len(r.exchanges))
	return r, nil
}

// Save writes what was recorded.
func (r *Recorder) Save(file string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := json.MarshalIndent(r.exchanges, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o600)
}

// Left counts the exchanges that were not replayed yet.
func (r *Recorder) Left() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := 0
	for _, done := range r.replayed {
		if !done {
			left++
		}
	}
	return left
}

// RoundTrip records a call, or replays it.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		if closed := req.Body.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, err
		}
	}
	if r.Next == nil {
		return r.replay(req, body)
	}
	sent := req.Clone(req.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	res, err := r.Next.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(res.Body)
	if closed := res.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	e := Exchange{
		Method: req.Method, Path: r.scrub(req.URL.Path), Request: r.scrub(string(body)), Status: res.StatusCode,
		Header: map[string]string{}, Response: r.scrub(string(answer)),
	}
	for _, name := range keptHeaders {
		if v := res.Header.Get(name); v != "" {
			e.Header[name] = v
		}
	}
	r.mu.Lock()
	r.exchanges = append(r.exchanges, e)
	r.mu.Unlock()
	res.Body = io.NopCloser(bytes.NewReader(answer))
	return res, nil
}

func (r *Recorder) scrub(text string) string {
	for _, secret := range r.Secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "SECRET")
		}
	}
	return text
}

func (r *Recorder) replay(req *http.Request, body []byte) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := 0
	for ; i < len(r.exchanges); i++ {
		if e := r.exchanges[i]; !r.replayed[i] && e.Method == req.Method && e.Path == r.scrub(req.URL.Path) &&
			e.Request == r.scrub(string(body)) {
			break
		}
	}
	if i == len(r.exchanges) {
		return nil,
			fmt.Errorf("the recording has no %s %s with the body %s", req.Method, req.URL.Path, r.scrub(string(body)))
	}
	r.replayed[i] = true
	e := r.exchanges[i]
	res := &http.Response{
		StatusCode: e.Status, Status: fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)), Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(e.Response)), ContentLength: int64(len(e.Response)),
		Request: req,
	}
	for name, v := range e.Header {
		res.Header.Set(name, v)
	}
	return res, nil
}

// Exchanges gives what was recorded or read.
func (r *Recorder) Exchanges() []Exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.exchanges)
}
