package prompt

import (
	"errors"
	"fmt"

	"gatehouse/core"
)

// check reports what is wrong with the prompt's form, whatever its variables are: prompt-management §3.1 and §11.
// Rendering checks it, because a backend may hand out anything.
func (p Prompt) check() error {
	if !p.IsChat() {
		return nil
	}
	if p.Template != "" {
		return errors.New("it has both a template and a chat_template")
	}
	seen := map[string]int{}
	for i, s := range p.Chat {
		if err := s.check(); err != nil {
			return inSegment(i, err)
		}
		if s.Role != "" {
			continue
		}
		if first, twice := seen[s.Placeholder]; twice {
			return inSegment(i,
				fmt.Errorf("duplicate placeholder name %q; segment %d has it too", s.Placeholder, first+1))
		}
		seen[s.Placeholder] = i
	}
	return nil
}

func inSegment(i int, err error) error { return fmt.Errorf("segment %d: %w", i+1, err) }

func (s Segment) check() error {
	switch s.Role {
	case "":
		if !s.Content.IsZero() {
			return errors.New("a placeholder has no content; give a message its role: system, user or assistant")
		}
		if !identifier.MatchString(s.Placeholder) {
			return fmt.Errorf("invalid placeholder name %q: it is not an identifier; use letters, digits and "+
				"underscores, and no digit first", s.Placeholder)
		}
		return nil
	case core.System, core.User, core.Assistant:
	default:
		return fmt.Errorf("invalid role %q; use system, user or assistant", s.Role)
	}
	if s.Placeholder != "" {
		return errors.New("a segment has either a role or a placeholder, not both")
	}
	if !s.Content.IsList() {
		return nil
	}
	blocks := s.Content.Blocks()
	if len(blocks) == 0 {
		return errors.New("the list of content blocks is empty")
	}
	for i, b := range blocks {
		switch b.Type {
		case core.TextBlock:
		case core.ImageBlock:
			if s.Role != core.User {
				return inBlock(i,
					fmt.Errorf("an image block needs the role user; this segment has the role %s", s.Role))
			}
			if b.Source != nil && b.Source.Type == core.SourceStored {
				return inBlock(i, errors.New("an image source of a prompt is of type url or inline"))
			}
		default:
			return inBlock(i, fmt.Errorf("invalid block type %q; use text or image", b.Type))
		}
	}
	return nil
}

func inBlock(i int, err error) error { return fmt.Errorf("block %d: %w", i+1, err) }
