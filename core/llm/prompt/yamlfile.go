package prompt

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
)

// reader reads YAML and reports what is wrong with it.
type reader struct {
	*faults
	file string
}

func (r reader) fault(n *yaml.Node, do, what string, args ...any) {
	r.add(r.file, n.Line, do, what, args...)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parse gives the root of a YAML text; nil, true for a text without any, and false after a fault.
func (r reader) parse(text string) (root *yaml.Node, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			r.add(r.file, 1, "correct the YAML", "this is no valid YAML: %v", p)
			root, ok = nil, false
		}
	}()
	documents := yaml.NewDecoder(strings.NewReader(text))
	var first, second yaml.Node
	err := documents.Decode(&first)
	if errors.Is(err, io.EOF) {
		return nil, true
	}
	if err == nil {
		if err = documents.Decode(&second); err == nil {
			r.fault(&second, "make a file for each version", "a second document begins here")
			return nil, false
		}
	}
	if !errors.Is(err, io.EOF) {
		line := 1
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil && m[1] != "" {
			line, _ = strconv.Atoi(m[1])
		}
		r.add(r.file, line, "correct the YAML there or near it", "this is no valid YAML: %s", yamlLine.ReplaceAllString(err.Error(), ""))
		return nil, false
	}
	return first.Content[0], true
}

// entries gives the values of a mapping by their keys. An unknown key and a repeated one are faults.
func (r reader) entries(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		r.fault(n, "write it as keys and values: "+strings.Join(known, ", "), "%s is no mapping", what)
		return nil
	}
	all := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		_, twice := all[key.Value]
		switch {
		case twice:
			r.fault(key, "remove one of the two", "the key %s is there twice", key.Value)
		case !slices.Contains(known, key.Value):
			r.fault(key, "use "+strings.Join(known, ", "), "unknown key %s in %s", shortened(key.Value), what)
		case value.Kind == yaml.AliasNode:
			r.fault(value, "write the value out", "an alias can't be used here")
		default:
			all[key.Value] = value
		}
	}
	return all
}

// text gives a scalar as written; ok is false after a fault.
func (r reader) text(n *yaml.Node, what string) (text string, ok bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.fault(n, "write a text", "%s is no text", what)
		return "", false
	}
	return n.Value, true
}

// list gives the items of a list; ok is false after a fault.
func (r reader) list(n *yaml.Node, what string) (items []*yaml.Node, ok bool) {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "write it as a list", "%s is no list", what)
		return nil, false
	}
	for _, item := range n.Content {
		if item.Kind == yaml.AliasNode {
			r.fault(item, "write the value out", "an alias can't be used here")
			return nil, false
		}
	}
	return n.Content, true
}

// template gives a text that may have variables.
func (r reader) template(n *yaml.Node, what string) string {
	text, ok := r.text(n, what)
	if !ok {
		return ""
	}
	line := n.Line
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		line++ // it begins below its key
	}
	r.checkTemplate(r.file, line, n.Style&yaml.LiteralStyle == 0, text)
	return text
}

// readHead reads labels and sampling, the keys that every version may have, and gives the others among also.
func (r reader) readHead(v *version, root *yaml.Node, what string, also ...string) map[string]*yaml.Node {
	keys := r.entries(root, what, append([]string{"labels", "sampling"}, also...)...)
	labels, given := keys["labels"]
	v.silent = !given
	if given {
		items, _ := r.list(labels, "labels")
		for _, item := range items {
			name, ok := r.text(item, "a label")
			if ok && name == "" {
				r.fault(item, "write its name", "a label is empty")
			}
			v.labels = append(v.labels, label{name, item.Line})
		}
	}
	if sampling := keys["sampling"]; sampling != nil {
		v.Sampling = r.sampling(sampling)
	}
	return keys
}

// readYAMLVersion reads a .yaml file.
func (f *faults) readYAMLVersion(v *version) {
	text, ok := f.readText(v.file)
	if !ok {
		return
	}
	r := reader{f, v.file}
	root, ok := r.parse(text)
	switch {
	case !ok:
		return
	case root == nil:
		f.add(v.file, 1, "add template: or chat_template:", "the file has no prompt")
		return
	}
	before := len(*f)
	keys := r.readHead(v, root, "the file", "template", "chat_template")
	template, chat := keys["template"], keys["chat_template"]
	switch {
	case (template == nil) == (chat == nil):
		if len(*f) > before {
			return // one of the two may be misspelt
		}
		r.fault(root, "write exactly one of template and chat_template", "it is not clear whether this is a text or a chat")
	case template != nil:
		v.Template = r.template(template, "template")
	default:
		v.Chat = r.chat(chat)
	}
}

// chat reads a chat_template.
func (r reader) chat(n *yaml.Node) []Segment {
	items, ok := r.list(n, "chat_template")
	if ok && len(items) == 0 {
		r.fault(n, "add segments to it", "chat_template is empty")
	}
	before, segments := len(*r.faults), []Segment{}
	for _, item := range items {
		segments = append(segments, r.segment(item))
	}
	if len(*r.faults) > before {
		return segments
	}
	for i := range segments { // the first that is wrong together with those before it
		if err := (Prompt{Chat: segments[:i+1]}).check(); err != nil {
			r.fault(items[i], "correct it", "%v", err)
			break
		}
		if segments[i].Role == core.System && segments[i].Content.IsList() {
			r.fault(items[i], "write its content as one text", "segment %d: a system message has no blocks", i+1)
		}
	}
	return segments
}

func (r reader) segment(n *yaml.Node) (s Segment) {
	keys := r.entries(n, "a segment", "role", "content", "placeholder")
	if role := keys["role"]; role != nil {
		text, _ := r.text(role, "role")
		s.Role = core.Role(text)
	}
	if placeholder := keys["placeholder"]; placeholder != nil {
		s.Placeholder, _ = r.text(placeholder, "placeholder")
	}
	content := keys["content"]
	switch {
	case content == nil && s.Role != "":
		r.fault(n, "add content: with a text or a list of blocks", "a message has no content")
	case content == nil:
	case content.Kind == yaml.SequenceNode:
		blocks := []core.Block{}
		items, _ := r.list(content, "content")
		for _, item := range items {
			blocks = append(blocks, r.block(item))
		}
		s.Content = core.Blocks(blocks...)
	default:
		s.Content = core.Text(r.template(content, "content"))
	}
	return s
}

func (r reader) block(n *yaml.Node) (b core.Block) {
	keys := r.entries(n, "a block", "type", "text", "source", "media_type", "detail")
	for key, to := range map[string]*string{"type": (*string)(&b.Type), "media_type": &b.MediaType, "detail": &b.Detail} {
		if v := keys[key]; v != nil {
			*to, _ = r.text(v, key)
		}
	}
	if text := keys["text"]; text != nil {
		b.Text = r.template(text, "text")
	} else if b.Type == core.TextBlock {
		r.fault(n, "add text:", "a block of type text has no text")
	}
	if source := keys["source"]; source != nil {
		b.Source = &core.ImageSource{}
		parts := r.entries(source, "source", "type", "url", "base64_data")
		if typ := parts["type"]; typ != nil {
			b.Source.Type, _ = r.text(typ, "type")
		}
		for key, to := range map[string]*string{"url": &b.Source.URL, "base64_data": &b.Source.Base64Data} {
			if v := parts[key]; v != nil {
				*to = r.template(v, key)
			}
		}
	} else if b.Type == core.ImageBlock {
		r.fault(n, "add source: {type: url, url: …}", "a block of type image has no source")
	}
	return b
}
