package prompt

import (
	"gopkg.in/yaml.v3"

	"gatehouse/core"
)

// template gives a text that may have variables.
func (r *reader) template(n *yaml.Node, what string) string {
	text, ok := r.Text(n, what, "Hello, {{ user }}!")
	if ok {
		r.checkTemplate(originOf(n), text)
	}
	return text
}

// readHead reads labels and sampling, the keys that every version may have, and gives the others among also.
func (r *reader) readHead(v *version, root *yaml.Node, what string, also ...string) map[string]*yaml.Node {
	keys := r.Values(root, what, append([]string{"labels", "sampling"}, also...)...)
	labels, given := keys["labels"]
	v.silent = !given
	if given {
		for _, item := range r.Items(labels, "labels", "["+DefaultLabel+"]") {
			if name, ok := r.Text(item, "a label", DefaultLabel); ok {
				v.labels = append(v.labels, label{name, item})
			}
		}
	}
	if sampling := keys["sampling"]; sampling != nil {
		v.Sampling = r.sampling(sampling)
	}
	return keys
}

// readYAML reads a .yaml file.
func (r *reader) readYAML(v *version) {
	text, ok := r.open(v.file)
	if !ok {
		return
	}
	root := r.Parse([]byte(text), "add template: or chat_template:")
	if root == nil {
		return
	}
	before := len(r.Faults)
	keys := r.readHead(v, root, "the file", "template", "chat_template")
	template, chat := keys["template"], keys["chat_template"]
	switch {
	case (template == nil) == (chat == nil):
		if len(r.Faults) > before {
			return // one of the two may be misspelt
		}
		r.Fault(root, "write exactly one of template and chat_template",
			"it is not clear whether this is a text or a chat")
	case template != nil:
		v.Template = r.template(template, "template")
	default:
		v.Chat = r.chat(chat)
	}
}

// chat reads a chat_template.
func (r *reader) chat(n *yaml.Node) []Segment {
	before := len(r.Faults)
	items := r.Items(n, "chat_template", "[{role: system, content: …}]")
	if len(items) == 0 && len(r.Faults) == before {
		r.Fault(n, "add segments to it", "chat_template is empty")
	}
	segments := []Segment{}
	for _, item := range items {
		segments = append(segments, r.segment(item))
	}
	if len(r.Faults) > before {
		return segments
	}
	for i := range segments { // the first that is wrong together with those before it
		if err := (Prompt{Chat: segments[:i+1]}).check(); err != nil {
			r.Fault(items[i], "correct it", "%v", err)
			break
		}
		if segments[i].Role == core.System && segments[i].Content.IsList() {
			r.Fault(items[i], "write its content as one text", "segment %d: a system message has no blocks", i+1)
		}
	}
	return segments
}

func (r *reader) segment(n *yaml.Node) (s Segment) {
	keys := r.Values(n, "a segment", "role", "content", "placeholder")
	if role := keys["role"]; role != nil {
		text, _ := r.Text(role, "role", string(core.User))
		s.Role = core.Role(text)
	}
	if placeholder := keys["placeholder"]; placeholder != nil {
		s.Placeholder, _ = r.Text(placeholder, "placeholder", "history")
	}
	content := keys["content"]
	switch {
	case content == nil && s.Role != "":
		r.Fault(n, "add content: with a text or a list of blocks", "a message has no content")
	case content == nil:
	case content.Kind == yaml.SequenceNode:
		blocks := []core.Block{}
		for _, item := range r.Items(content, "content", "") {
			blocks = append(blocks, r.block(item))
		}
		s.Content = core.Blocks(blocks...)
	default:
		s.Content = core.Text(r.template(content, "content"))
	}
	return s
}

func (r *reader) block(n *yaml.Node) (b core.Block) {
	keys := r.Values(n, "a block", "type", "text", "source", "media_type", "detail")
	for key, to := range map[string]*string{
		"type": (*string)(&b.Type), "media_type": &b.MediaType, "detail": &b.Detail,
	} {
		if v := keys[key]; v != nil {
			*to, _ = r.Text(v, key, examples[key])
		}
	}
	if text := keys["text"]; text != nil {
		b.Text = r.template(text, "text")
	} else if b.Type == core.TextBlock {
		r.Fault(n, "add text:", "a block of type text has no text")
	}
	if source := keys["source"]; source != nil {
		b.Source = r.source(source)
	} else if b.Type == core.ImageBlock {
		r.Fault(n, "add source: {type: url, url: …}", "a block of type image has no source")
	}
	return b
}

// examples are values of a block's keys.
var examples = map[string]string{"type": string(core.TextBlock), "media_type": "image/png", "detail": "low"}

// source reads where an image comes from.
func (r *reader) source(n *yaml.Node) *core.ImageSource {
	s := &core.ImageSource{}
	parts := r.Values(n, "source", "type", "url", "base64_data")
	if typ := parts["type"]; typ != nil {
		s.Type, _ = r.Text(typ, "type", core.SourceURL)
	}
	for key, to := range map[string]*string{"url": &s.URL, "base64_data": &s.Base64Data} {
		if v := parts[key]; v != nil {
			*to = r.template(v, key)
		}
	}
	return s
}
