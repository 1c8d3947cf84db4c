package anthropic

import (
	"slices"
	"strings"

	"gatehouse/core"
)

// mediaTypes are the images that the API takes inline.
var mediaTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// userBlock is a block of a user's message; nil: a text without anything visible, which is left out.
func userBlock(b core.Block) (object, error) {
	if b.Type == core.TextBlock {
		return textBlock(b), nil
	}
	switch b.Source.Type {
	case core.SourceURL:
		return object{"type": "image", "source": object{"type": "url", "url": b.Source.URL}}, nil
	case core.SourceInline:
		if !slices.Contains(mediaTypes, b.MediaType) {
			return nil, core.Errorf(core.ProviderUnsupportedContent, "The model can't read images of type %s. Send a "+
				"PNG, JPEG, GIF or WebP image.", b.MediaType)
		}
		data := strings.NewReplacer("\r", "", "\n", "").Replace(b.Source.Base64Data)
		return object{"type": "image", "source": object{"type": "base64", "media_type": b.MediaType, "data": data}}, nil
	}
	return nil,
		core.Errorf(core.ProviderInvalidRequest, "An image of source %q can't be sent: load its bytes first.",
			b.Source.Type)
}

// assistantBlock is a block of an assistant's message; nil: it is left out. Thinking without a signature is another
// provider's, and a signature of a text is too.
func assistantBlock(b core.Block) object {
	switch b.Type {
	case core.TextBlock:
		return textBlock(b)
	case core.ThinkingBlock:
		if b.Signature != "" {
			return object{"type": "thinking", "thinking": b.Text, "signature": b.Signature}
		}
	case core.RedactedThinkingBlock:
		return object{"type": "redacted_thinking", "data": b.Data}
	}
	return nil
}

func textBlock(b core.Block) object {
	if strings.TrimSpace(b.Text) == "" {
		return nil
	}
	return object{"type": "text", "text": b.Text}
}
