package llm

// TokenKind is what a piece of a streamed answer is of.
type TokenKind string

// The kinds. The arguments of calls are no tokens: a call is shown when it is whole.
const (
	TokenContent   TokenKind = "content"
	TokenReasoning TokenKind = "reasoning"
)

// Token is a piece of a streamed answer, as it came (graph-engine §6, LlmTokenEvent). Tokens of one call are numbered
// from 0.
type Token struct {
	Index int
	Kind  TokenKind
	Text  string
}

// Tokens numbers the tokens of one call and passes them on.
type Tokens struct {
	Hear func(Token) // nil: nobody hears them
	next int
}

// Say passes on a piece. An empty one is none.
func (t *Tokens) Say(kind TokenKind, text string) {
	if t.Hear == nil || text == "" {
		return
	}
	t.Hear(Token{t.next, kind, text})
	t.next++
}
