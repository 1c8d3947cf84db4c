package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/core"
)

// Client speaks to the HTTP interface of a running gatehouse.
type Client struct {
	URL   string // "http://127.0.0.1:8080"
	Token string // of GATEHOUSE_TOKENS there; "": that gatehouse has none, and runs on this machine
}

// Serve serves MCP on standard streams until ctx or the input ends. Each call of a tool is a request to the running
// gatehouse; if that is not there, the result says so, and the call can be repeated.
func (c Client) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return mcpDoor{c}.server().Run(ctx, &mcp.IOTransport{Reader: in, Writer: out})
}

var _ door = Client{}

func (c Client) ask(ctx context.Context, key string, a Ask) (State, bool, error) {
	body, err := json.Marshal(a)
	if err != nil {
		return State{}, false, err
	}
	s, status, err := c.do(ctx, http.MethodPost, "/v1/approvals", key, body, answerTime)
	return s, status == http.StatusCreated, err
}

func (c Client) state(ctx context.Context, id core.ApprovalID, wait time.Duration) (State, error) {
	path := fmt.Sprintf("/v1/approvals/%s?wait=%d", url.PathEscape(string(id)), int(wait.Seconds()))
	s, _, err := c.do(ctx, http.MethodGet, path, "", nil, wait+answerTime)
	return s, err
}

func (c Client) withdraw(ctx context.Context, id core.ApprovalID) (State, error) {
	s, _, err := c.do(ctx, http.MethodDelete, "/v1/approvals/"+url.PathEscape(string(id)), "", nil, answerTime)
	return s, err
}

func (c Client) do(
	ctx context.Context, method, path, key string, body []byte, within time.Duration,
) (s State, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return s, 0, core.Wrap(core.Invalid, err, "The address of gatehouse, %s, is not a URL.", c.URL)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return s, 0, core.Wrap(core.StoreBusy, err, "gatehouse can't be reached at %s. Try again; if it goes on, "+
			"tell whoever runs it.", c.URL)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 2*MaxBody))
	if err != nil {
		return s, 0, core.Wrap(core.StoreBusy, err, "The answer of gatehouse at %s was cut off. Try again.", c.URL)
	}
	if answer.StatusCode >= http.StatusMultipleChoices {
		var f Fault
		if json.Unmarshal(text, &f) != nil || f.Error.Message == "" {
			return s, 0,
				core.Errorf(core.StoreBusy, "gatehouse at %s answered with status %d.", c.URL, answer.StatusCode)
		}
		return s, 0, refusal(answer.StatusCode, f.Error)
	}
	if err := json.Unmarshal(text, &s); err != nil || s.ID == "" {
		return s, 0, core.Errorf(core.Invalid, "What answers at %s is not gatehouse.", c.URL)
	}
	return s, answer.StatusCode, nil
}

// refusal is the error behind a fault, in the words of the other side.
func refusal(status int, f FaultDetail) error {
	category := core.Invalid
	for c, s := range statuses {
		if s == status && string(c) == f.Code {
			category = c
		}
	}
	return core.Errorf(category, "%s", f.Message)
}
