package llm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gatehouse/core/llm"
)

// speaking says pieces, twice, as a provider that repeats a call does, and ends with err.
type speaking struct{ err error }

func (speaking) Ready(context.Context) error { return nil }

func (p speaking) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	for range 2 {
		tokens := llm.Tokens{Hear: r.OnToken}
		tokens.Say(llm.TokenContent, "a")
		tokens.Say(llm.TokenReasoning, "b")
	}
	return llm.Response{Model: "answered"}, p.err
}

// TestACallIsToldByItsTokensAndOneEnd: tokens are numbered through the call's attempts, share its id, and come before
// the one end.
func TestACallIsToldByItsTokensAndOneEnd(t *testing.T) {
	for end, fault := range map[string]error{"answered": nil, "failed": errors.New("no")} {
		var told []string
		ids := map[string]bool{}
		p := llm.Told{Provider: speaking{fault}, Vendor: "v", Model: "m", Tell: func(_ context.Context, event any) {
			switch e := event.(type) {
			case llm.TokenEvent:
				ids[e.ID] = true
				told = append(told, fmt.Sprint(e.Index, e.Kind, e.Text))
			case llm.CompletionEvent:
				ids[e.ID] = true
				told = append(told, e.Response.Model+e.Provider+e.Model)
			case llm.FailedEvent:
				ids[e.ID] = true
				told = append(told, "failed"+e.Provider+e.Model)
				if !errors.Is(e.Err, fault) {
					t.Errorf("the error told is %v", e.Err)
				}
			}
		}}
		heard := 0
		for range 2 {
			if _, err := p.Complete(t.Context(), llm.Request{Stream: true, OnToken: func(llm.Token) {
				heard++
			}}); !errors.Is(err, fault) {
				t.Errorf("the error is %v", err)
			}
		}
		once := []string{"0contenta", "1reasoningb", "2contenta", "3reasoningb", end + "vm"}
		if !slices.Equal(told, append(slices.Clone(once), once...)) || len(ids) != 2 || ids[""] || heard != 8 {
			t.Errorf("%s: told %q of %d calls, %d tokens were heard", end, told, len(ids), heard)
		}
	}
}
