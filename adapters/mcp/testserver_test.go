package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveAs is the main of a server.
func serveAs(kind string) {
	switch kind {
	case "plain":
		_ = plain().Run(context.Background(), &sdk.StdioTransport{}) // it ends with its input
	case "modern":
		_ = modernOnly().Run(context.Background(), &sdk.StdioTransport{})
	case "saying":
		sayAll()
	case "http":
		socket, err := net.Listen("tcp", os.Getenv("LISTEN"))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		server := plain()
		// until it is killed
		_ = http.Serve(socket, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	case "child":
		if conn, err := net.Dial("tcp", os.Getenv("PARENT")); err == nil {
			_, _ = conn.Read(make([]byte, 1)) // until it is killed
		}
	default:
		hostile(kind)
	}
}

// plain is a server as people write them.
func plain(versions ...string) *sdk.Server {
	fmt.Fprintln(os.Stderr, "listening; the token is", os.Getenv("TOKEN"))
	s := sdk.NewServer(&sdk.Implementation{Name: "plain", Version: "1"},
		&sdk.ServerOptions{SupportedProtocolVersions: versions})
	schema := map[string]any{"type": "object"}
	text := func(format string, args ...any) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
	}
	yes, no := true, false
	add := func(name string, hints *sdk.ToolAnnotations,
		do func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "Does " + name + ".", InputSchema: schema, Annotations: hints}, do)
	}
	add("echo", &sdk.ToolAnnotations{ReadOnlyHint: true},
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return text("%s", r.Params.Arguments), nil
		})
	add("write", &sdk.ToolAnnotations{DestructiveHint: &no},
		func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			note(fmt.Sprintf("write %s %v", r.Params.Arguments, r.Params.Meta["gatehouse/call-key"]))
			return text("written"), nil
		})
	add("delete", &sdk.ToolAnnotations{DestructiveHint: &yes},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			note("delete")
			return text("deleted"), nil
		})
	add("die", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		note("die")
		os.Exit(3)
		return nil, nil
	})
	add("fail", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := text("no such file: %s\u200b", os.Getenv("TOKEN"))
		r.IsError = true
		return r, nil
	})
	add("refuse", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("out of order")
	})
	add("environment", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text("%s", strings.Join(os.Environ(), "\n")), nil
	})
	add("wait", nil, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "waiting")
		<-ctx.Done()
		return text("waited"), nil
	})
	add("spawn", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		child := exec.Command(os.Args[0])
		child.Env = []string{"TEST_SERVER=child", "PARENT=" + os.Getenv("PARENT")}
		child.Stdout = os.Stdout // which keeps the server's output open
		if err := child.Start(); err != nil {
			return nil, err
		}
		return text("%d", child.Process.Pid), nil
	})
	add("picture", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "Here:"}, &sdk.ImageContent{MIMEType: "image/png", Data: []byte("pixels")},
			&sdk.ResourceLink{Name: "more", URI: "file:///more"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///text", Text: "the text"}},
		}, StructuredContent: map[string]any{"pixels": 6}}, nil
	})
	add("learn", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add("learned", nil, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return text("yes"), nil
		})
		return text("learned"), nil
	})
	return s
}

// note writes a line to the server's notes.
func note(line string) {
	f, err := os.OpenFile(os.Getenv("NOTES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, line)
		_ = f.Close()
	}
}
