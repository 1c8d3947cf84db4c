package prompt

import (
	"time"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// DefaultLabel is the label that is fetched where nothing else is said (prompt-management §7).
const DefaultLabel = "production"

// Prompt is a template and its identity (prompt-management §3). It is a text prompt, or, if Chat is not nil, a chat
// prompt (§3.1). It is a value that nobody changes.
type Prompt struct {
	Name, Version, Label string

	Template     string    // of a text prompt
	Chat         []Segment // of a chat prompt
	TemplateHash string    // see HashTemplate; of a backend that has hashes of its own, theirs
	FetchedAt    time.Time
	Sampling     *llm.Config // nil: none is given
}

// IsChat reports whether the prompt is a chat prompt.
func (p Prompt) IsChat() bool { return p.Chat != nil }

// Segment is a part of a chat prompt (prompt-management §3.1): a message with a role, or, without a role, a placeholder
// for messages. Of the content these are templates: a text; the text of a text block; the URL of an image; the data and
// the media type of an inline image.
type Segment struct {
	Role    core.Role // system, user or assistant; "" = this is a placeholder
	Content core.Content

	Placeholder string
}

// Result is a rendered prompt (prompt-management §4). What is not about rendering is the prompt's.
type Result struct {
	Name, Version, Label string

	TemplateHash string
	RenderedHash string         // of the messages: equal messages have equal hashes
	Messages     []core.Message // at least one
	Variables    map[string]any // that it was rendered with
	FetchedAt    time.Time
	RenderedAt   time.Time // set by a Manager
	Sampling     *llm.Config
}
