package agent_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/llm"
	"gatehouse/core/tool"
)

// reader reads the deltas of a turn: what is on the screen, and all that ever was.
type reader struct {
	watched bool
	screen  string
	ever    []string
}

func (r *reader) Step(string)     {}
func (r *reader) Waits(time.Time) {}
func (r *reader) Writes()         { r.screen = "" }
func (r *reader) Piece(text string) {
	r.screen += text
	r.ever = append(r.ever, r.screen)
}
func (r *reader) Said(text string) { r.screen = text }
func (r *reader) Watched() bool    { return r.watched }

// writer is a provider that writes its answers in pieces.
type writer struct {
	llm.Provider
	attempts [][]llm.Token
}

func (w writer) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	for _, tokens := range w.attempts {
		for _, t := range tokens {
			r.OnToken(t)
		}
	}
	return llm.Response{Message: core.Message{Role: core.Assistant, Content: core.Text("x")}}, nil
}

// content cuts a text into two tokens.
func content(text string, cut int) []llm.Token {
	return []llm.Token{
		{Index: 0, Kind: llm.TokenContent, Text: text[:cut]}, {Index: 1, Kind: llm.TokenContent, Text: text[cut:]},
	}
}

// TestWhatAModelThinksIsNeverShown, nor the calls that it writes as text: wherever the pieces are cut. What follows the
// thinking is; and what only looks like a mark is no mark.
func TestWhatAModelThinksIsNeverShown(t *testing.T) {
	for text, want := range map[string]string{
		"It is 5 < 6, a [link](x), <b>bold</b> and x[0].": "It is 5 < 6, a [link](x), <b>bold</b> and x[0].",
		"<think>SECRET</think>\n\nHello.":                 "Hello.",
		" <Thinking>SECRET</thinking>Hello.":              "Hello.",
		"[THINK]SECRET[/THINK]Hello.":                     "Hello.",
		"◁think▷SECRET◁/think▷Hello.":                     "Hello.",
		"<think>SECRET":                                   "",
		"<|channel|>analysis<|message|>SECRET<|end|><|start|>assistant<|channel|>final<|message|>Hello.": "",

		"Let me see. <tool_call>{\"name\": \"SECRET\"}</tool_call>": "Let me see. ",

		"<function=SECRET>": "", "[TOOL_CALLS]SECRET": "", "{\"name\": \"SECRET\"}": "",
		"[\r\n\t{\"name\": \"SECRET\"}]": "",
		"<｜tool▁calls▁begin｜>SECRET":     "", "Look: <|python_tag|>SECRET": "Look: ",
	} {
		for cut := range text {
			screen := &reader{}
			m := agent.ProviderModel{Provider: writer{attempts: [][]llm.Token{content(text, cut)}},
				Tools: tool.NewRegistry()}
			history := core.History{}.Append(core.Message{Role: core.User, Content: core.Text("hi")})
			if _, err := m.Next(core.WithDeltas(t.Context(), screen), history, nil); err != nil {
				t.Fatal(err)
			}
			if all := strings.Join(screen.ever, "|"); strings.Contains(all, "SECRET") || screen.screen != want {
				t.Errorf("%q, cut at %d, shows %q", text, cut, all)
			}
		}
	}
}

// TestAnAttemptThatIsMadeAnewBeginsAnew, also one that begins with thinking; reasoning of its own kind is not shown.
func TestAnAttemptThatIsMadeAnewBeginsAnew(t *testing.T) {
	screen := &reader{}
	thinks := append([]llm.Token{{Kind: llm.TokenReasoning, Text: "SECRET"}},
		llm.Token{Index: 1, Kind: llm.TokenContent, Text: "Whole."})
	m := agent.ProviderModel{
		Provider: writer{attempts: [][]llm.Token{content("Half of", 2), thinks}}, Tools: tool.NewRegistry(),
	}
	history := core.History{}.Append(core.Message{Role: core.User, Content: core.Text("hi")})
	if _, err := m.Next(core.WithDeltas(t.Context(), screen), history, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Join(screen.ever, "|") != "Ha|Half of|Whole." {
		t.Errorf("shown %q", screen.ever)
	}
}

// TestTheDemoWritesWordByWord where somebody looks, and at once where nobody does.
func TestTheDemoWritesWordByWord(t *testing.T) {
	history := core.History{}.Append(core.Message{Role: core.User, Content: core.Text("thanks")})
	for watched, pieces := range map[bool]int{true: 3, false: 0} {
		screen := &reader{watched: watched}
		answer, err := agent.Demo{}.Next(core.WithDeltas(t.Context(), screen), history, nil)
		if err != nil || len(screen.ever) != pieces || watched && screen.screen != answer.Content.String() {
			t.Errorf("watched %t: %q, %v", watched, screen.ever, err)
		}
	}
}
