package main

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/slack/slacktest"
)

// The image that an MCP server gives is shown to the model, of a call that runs at once and of one that is approved,
// and in later turns after a restart as well; the conversation's own text has a note of it.
func TestAnImageOfAServerIsShownToTheModel(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		picture := []byte("\x89PNG\x0d\x0a\x1a\x0a of a cat")
		server := mcp.NewServer(&mcp.Implementation{Name: "eyes", Version: "1"}, nil)
		server.AddTool(&mcp.Tool{Name: "see", InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{
					&mcp.TextContent{Text: "Here:"}, &mcp.ImageContent{MIMEType: "image/png", Data: picture},
				}}, nil
			})
		h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
		t.Cleanup(h.Close)
		file := serversFile(t, filepath.Join(t.TempDir(), "mcp.json"), map[string]string{"eyes": h.URL})
		s := serveModel(t, v, map[string]string{"GATEHOUSE_MCP_CONFIG": file})
		awaitServer(t, s.base, "eyes")
		v.Then(v.call(toolCall("c1", "eyes.see", `{}`)), v.say("A cat."), v.say("Still a cat."))
		ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" look")
		s.bob.Clicks("C1", s.card("C1", ask.TS, "eyes.see").TS, "approve")
		s.reads("C1", ask.TS, "A cat.")
		want := base64.StdEncoding.EncodeToString(picture)
		shown := func() {
			t.Helper()
			if body := v.lastBody(); strings.Count(body, want) != 1 ||
				!strings.Contains(body, "(an image, image/png, 17 bytes)") {
				t.Errorf("the model is asked %s", body)
			}
		}
		shown()
		s.stop()
		s.start()
		s.ann.Posts("C1", s.slack.MentionOfBot()+" and now?", slacktest.InThread(ask.TS))
		s.reads("C1", ask.TS, "Still a cat.")
		shown()
	})
}
