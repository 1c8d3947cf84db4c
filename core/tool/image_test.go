package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// Images of a tool are kept within the limits, for types that models read; the message that answers the call has them
// beside it.
// images keeps what tools give.
type images func(data []byte) (digest string, err error)

func (f images) KeepImage(_ context.Context, data []byte) (string, error) { return f(data) }

func TestImagesOfATool(t *testing.T) {
	kept := 0
	keep := images(func(data []byte) (string, error) {
		if string(data) == "full" {
			return "", errors.New("the disk is full")
		}
		kept++
		return core.Digest(data), nil
	})
	one := tool.Tool{Name: "desk.see", Do: func(ctx context.Context, _ string, _ json.RawMessage) (string, error) {
		for kind, want := range map[string]bool{"image/png": true, "image/svg+xml": false, "text/html": false} {
			if tool.Image(ctx, kind, []byte(kind)) != want {
				t.Errorf("%s: not %v", kind, want)
			}
		}
		if tool.Image(ctx, "image/png", []byte("full")) || tool.Image(ctx, "image/png", make([]byte, 5<<20+1)) {
			t.Error("an image that can't be stored, or is too large, is shown")
		}
		for range 7 {
			if !tool.Image(ctx, "image/jpeg", []byte("more")) {
				t.Error("one of eight is not shown")
			}
		}
		if tool.Image(ctx, "image/jpeg", []byte("more")) {
			t.Error("a ninth is shown")
		}
		return "seen", nil
	}}
	x := tool.Executor{Tools: tool.NewRegistry(one)}
	r, err := x.Read(core.WithTurn(t.Context(), core.Turn{Images: keep}), one,
		core.ToolCall{Name: one.Name, Arguments: json.RawMessage(`{}`)}, "k")
	if err != nil || r.Content != "seen" || len(r.Images) != 8 || kept != 8 {
		t.Fatalf("%+v, %v, %d kept", r, err, kept)
	}
	row := tool.Row("c1", r)
	if row.Content.String() != "seen" || len(row.StoredImages()) != 2 {
		t.Errorf("%+v", row)
	}
	outside := tool.Tool{Do: func(ctx context.Context, _ string, _ json.RawMessage) (string, error) {
		if tool.Image(ctx, "image/png", []byte("a")) {
			t.Error("outside a turn an image is shown")
		}
		return "seen", nil
	}}
	if r := reads(t, outside); len(r.Images) > 0 || tool.Image(t.Context(), "image/png", nil) {
		t.Errorf("%+v", r)
	}
}
