package admin

import (
	"encoding/json"
	"slices"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
	"gatehouse/core/tool"
)

// masker returns a function that hides the secrets of messages, which it gets in their order. The approvals are those
// of their session: they tell which arguments of their calls the tools' schemas said are secret. For other calls, the
// tools that the agent has now tell that. What is secret in a call is hidden in every text, too: tools repeat it.
func masker(all []core.Approval, tools *tool.Registry) func(core.Message) core.Message {
	secret := map[string][]string{} // by the digest of the call
	var values []string
	for _, a := range all {
		secret[a.Call.Digest] = a.Call.Secret
		values = append(values, mask.Secrets(a.Call.Arguments, a.Call.Secret...)...)
	}
	hiding := mask.NewHiding(values)
	return func(m core.Message) core.Message {
		for _, c := range m.ToolCalls {
			if pointers := tools.Secret(c); len(pointers) > 0 {
				values = append(values, mask.Secrets(c.Arguments, pointers...)...)
				hiding = mask.NewHiding(values)
			}
		}
		return masked(m, hiding, func(c core.ToolCall) []string {
			digest, _ := tool.Digest(c.Name, c.Arguments) // of malformed arguments "": they have no approval
			return slices.Concat(secret[digest], tools.Secret(c))
		})
	}
}

func masked(m core.Message, hiding *mask.Hiding, secret func(core.ToolCall) []string) core.Message {
	calls := m.ToolCalls
	m.ToolCalls = nil
	for _, c := range calls {
		c.Arguments = mask.JSON(c.Arguments, secret(c)...)
		m.ToolCalls = append(m.ToolCalls, c)
	}
	if !m.Content.IsList() {
		m.Content = core.Text(mask.Text(hiding.In(m.Content.String())))
		return m
	}
	blocks := m.Content.Blocks()
	for i := range blocks {
		blocks[i].Text = mask.Text(hiding.In(blocks[i].Text))
	}
	m.Content = core.Blocks(blocks...)
	return m
}

// maskedVotes returns a copy of votes with the secrets in their reasons and answers hidden.
func maskedVotes(votes []core.Vote) []core.Vote {
	all := append([]core.Vote{}, votes...)
	for i := range all {
		all[i].Reason, all[i].Answer = mask.Text(all[i].Reason), maskedAnswer(all[i].Answer)
	}
	return all
}

// maskedQuestion returns a copy of a question with the secrets in its texts and in its choices hidden.
func maskedQuestion(q question.Question) *question.Question {
	q.Text, q.Fields = mask.Text(q.Text), slices.Clone(q.Fields)
	for i := range q.Fields {
		f := &q.Fields[i]
		f.Title, f.Hint, f.Choices = mask.Text(f.Title), mask.Text(f.Hint), slices.Clone(f.Choices)
		for j, c := range f.Choices {
			f.Choices[j] = question.Choice{Value: maskedAnswer(c.Value), Title: mask.Text(c.Title)}
		}
	}
	return &q
}

// maskedAnswer hides the secrets in an answer.
func maskedAnswer(answer json.RawMessage) json.RawMessage {
	if len(answer) == 0 {
		return nil
	}
	return mask.JSON(answer)
}
