package prompt

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gatehouse/core"
)

// Input is what a prompt is rendered with.
type Input struct {
	Variables map[string]any // texts, numbers and bools; those that the prompt does not use are ignored
	// of a chat prompt; an empty list stands for no message. A text prompt ignores them
	Placeholders map[string][]core.Message
}

// Render gives the prompt's messages (prompt-management §6, §8). It changes nothing. The error is prompt_render_error:
// there is then no result, not even in part.
func (p Prompt) Render(in Input) (Result, error) {
	messages, err := p.messages(in)
	if err != nil {
		return Result{}, p.renderError(in, err.Error())
	}
	hash, err := hashMessages(messages)
	if err != nil {
		return Result{}, p.renderError(in, err.Error())
	}
	variables := map[string]any{}
	maps.Copy(variables, in.Variables)
	return Result{
		Name: p.Name, Version: p.Version, Label: p.Label, TemplateHash: p.TemplateHash, RenderedHash: hash,
		Messages: messages, Variables: variables, FetchedAt: p.FetchedAt, Sampling: p.Sampling,
	}, nil
}

func (p Prompt) messages(in Input) ([]core.Message, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if !p.IsChat() {
		m, err := Segment{Role: core.User, Content: core.Text(p.Template)}.message(in)
		return []core.Message{m}, err
	}
	var all []core.Message
	for i, s := range p.Chat {
		if s.Role == "" {
			filled, err := s.filled(in)
			if err != nil {
				return nil, inSegment(i, err)
			}
			all = append(all, filled...)
			continue
		}
		m, err := s.message(in)
		if err != nil {
			return nil, inSegment(i, err)
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, errors.New("the list of rendered messages is empty")
	}
	return all, nil
}

// filled gives the messages for a placeholder.
func (s Segment) filled(in Input) ([]core.Message, error) {
	given, there := in.Placeholders[s.Placeholder]
	if !there {
		return nil, fmt.Errorf("the placeholder %q has no messages; give it some, or an empty list", s.Placeholder)
	}
	for i, m := range given {
		if err := m.Validate(); err != nil {
			return nil,
				fmt.Errorf("message %d of the placeholder %q is invalid: %s", i+1, s.Placeholder, core.MessageOf(err))
		}
	}
	return given, nil
}

// message renders a segment that has a role.
func (s Segment) message(in Input) (core.Message, error) {
	if !s.Content.IsList() {
		text, err := substituteSome(s.Content.String(), in)
		return core.Message{Role: s.Role, Content: core.Text(text)}, err
	}
	blocks := s.Content.Blocks()
	for i, b := range blocks {
		rendered, err := block(b, in)
		if err != nil {
			return core.Message{}, inBlock(i, err)
		}
		blocks[i] = rendered
	}
	return core.Message{Role: s.Role, Content: core.Blocks(blocks...)}, nil
}

// substituteSome renders a template to a text that is not empty. White space counts.
func substituteSome(template string, in Input) (string, error) {
	text, err := substitute(template, in.Variables)
	if err == nil && text == "" {
		err = errors.New("the rendered text is empty")
	}
	return text, err
}

// block renders a block; the one that it is given stays as it is.
func block(b core.Block, in Input) (core.Block, error) {
	if b.Type == core.TextBlock {
		var err error
		b.Text, err = substituteSome(b.Text, in)
		return b, err
	}
	if b.Source != nil {
		source := *b.Source
		b.Source = &source
	}
	for _, t := range imageTemplates(&b) {
		text, err := substitute(*t, in.Variables)
		if err != nil {
			return b, err
		}
		*t = text
	}
	if err := b.Validate(); err != nil {
		return b, errors.New(core.MessageOf(err))
	}
	return b, nil
}

// imageTemplates gives the members of an image block that are templates; what else it has is literal (prompt-management
// §3.1).
func imageTemplates(b *core.Block) []*string {
	switch {
	case b.Source == nil:
		return nil
	case b.Source.Type == core.SourceInline:
		return []*string{&b.Source.Base64Data, &b.MediaType}
	}
	return []*string{&b.Source.URL}
}

// Variables gives the names of the variables that the prompt uses, sorted. The error is a prompt_render_error about an
// invalid template.
func (p Prompt) Variables() ([]string, error) {
	names := map[string]bool{}
	for _, t := range p.templates() {
		pieces, err := parse(t)
		if err != nil {
			return nil, p.renderError(Input{}, err.Error())
		}
		for _, piece := range pieces {
			if piece.variable != "" {
				names[piece.variable] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// templates gives all texts of the prompt that may have variables.
func (p Prompt) templates() []string {
	all := []string{p.Template}
	for _, s := range p.Chat {
		if !s.Content.IsList() {
			all = append(all, s.Content.String())
		}
		for _, b := range s.Content.Blocks() {
			all = append(all, b.Text)
			for _, t := range imageTemplates(&b) {
				all = append(all, *t)
			}
		}
	}
	return all
}
