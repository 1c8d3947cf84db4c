package view

import "gatehouse/core"

// What is added to texts, in tokens.
const (
	perMessage = 6    // the role and what separates messages
	perCall    = 24   // the id, which is of random letters, and the form of a call or of a result
	perImage   = 1600 // an image in full resolution costs about this at each vendor, whatever its bytes
)

// Tokens estimates what a message takes: a token for every three bytes of text, which is more than English takes, about
// what other languages take, and less than what random letters and digits take; a fixed number for an image. It depends
// on the message alone.
func Tokens(m core.Message) int {
	n := perMessage
	for _, b := range m.Content.Blocks() {
		if b.Type == core.ImageBlock {
			n += perImage
			continue
		}
		n += textTokens(b.Text) + textTokens(b.Signature) + textTokens(b.Data)
	}
	for _, c := range m.ToolCalls {
		n += perCall + textTokens(c.Name) + textTokens(string(c.Arguments)) + textTokens(c.Signature)
	}
	if m.Role == core.ToolRole {
		n += perCall
	}
	return n
}

func textTokens(s string) int { return (len(s) + 2) / 3 }

func sum(msgs []core.Message) int {
	n := 0
	for _, m := range msgs {
		n += Tokens(m)
	}
	return n
}
