package view

import (
	"net/url"
	"slices"
	"strings"

	"gatehouse/core"
)

// Mark gives a provider's message as it is to be stored: with the provider's name in front of each signature and of
// redacted thinking, which belong to one provider (llm-provider §3), and as the origin of what is kept beside the
// message. Options.Provider takes the mark away again, or the thinking if it is another's. What has no mark is shown to
// no provider. m stays as it was. A message is to be marked once.
func Mark(provider string, m core.Message) core.Message {
	prefix := mark(provider)
	sign := func(s string) string {
		if s == "" {
			return ""
		}
		return prefix + s
	}
	if m.Content.IsList() {
		blocks := m.Content.Blocks()
		for i, b := range blocks {
			blocks[i].Signature, blocks[i].Data = sign(b.Signature), sign(b.Data)
		}
		m.Content = core.Blocks(blocks...)
	}
	if m.Kept != nil {
		m.Kept = &core.Kept{Origin: provider, Data: m.Kept.Data}
	}
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i, c := range m.ToolCalls {
		m.ToolCalls[i].Signature = sign(c.Signature)
	}
	return m
}

// mark is what stands in front of a provider's signatures. The name has no colon in it.
func mark(provider string) string { return url.QueryEscape(provider) + ":" }

// own is a signature as its provider made it; "" if it is another's, or not marked. Without a provider it stays as it
// is.
func own(provider, signature string) string {
	if provider == "" {
		return signature
	}
	s, ok := strings.CutPrefix(signature, mark(provider))
	if !ok {
		return ""
	}
	return s
}
