package gate

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object of which single members are read.
type object = map[string]json.RawMessage

// mend writes the parts of an answer anew that servers often get wrong and whose meaning is clear: a number or null
// where a text is due in a part of a result, in the server's name and version, or in what it says about a tool; a part
// of a type that nobody knows, which becomes a text that says so; hints and other members of a tool that are no
// objects, which are left out. The SDK would refuse the whole answer for one of them. What is in order comes back as it
// came, and so does what would grow above MaxMessage.
func mend(answer []byte) []byte {
	var message, result object
	if json.Unmarshal(answer, &message) != nil || json.Unmarshal(message["result"], &result) != nil {
		return answer
	}
	changed := each(result, "content", mendPart)
	changed = within(result, "result", func(ofTask object) bool { return each(ofTask, "content", mendPart) }) || changed
	changed = each(result, "tools", mendTool) || changed
	changed = within(result, "serverInfo", func(info object) bool {
		return texts(info, "name", "title", "version")
	}) || changed
	if !changed {
		return answer
	}
	message["result"] = encode(result)
	if mended := encode(message); len(mended) <= MaxMessage {
		return mended
	}
	return answer
}

// mendPart mends a part of a result.
func mendPart(part object) bool {
	changed := texts(part, "type", "text", "mimeType", "uri", "name")
	var kind string
	_ = json.Unmarshal(part["type"], &kind) // "" if there is none
	switch kind {
	case "text", "image", "audio", "resource_link":
	case "resource":
		changed = within(part, "resource", func(r object) bool {
			return texts(r, "uri", "mimeType", "text")
		}) || changed
	default:
		said := "(a part of a type that is not known; it is not shown)"
		if len(kind) > 0 && len(kind) <= 40 {
			said = "(a part of the type " + kind + "; it is not shown)"
		}
		if _, has := part["text"]; has {
			said = ""
			_ = json.Unmarshal(part["text"], &said) // which texts has made a text
		}
		clear(part)
		part["type"], part["text"] = json.RawMessage(`"text"`), encode(said)
		return true
	}
	return changed
}

// mendTool mends what a server says about a tool; its schema is read elsewhere.
func mendTool(tool object) bool {
	changed := texts(tool, "name", "title", "description")
	for _, name := range []string{"annotations", "icons", "_meta", "execution"} {
		first := byte('{')
		if name == "icons" {
			first = '['
		}
		if v, has := tool[name]; has && v[0] != first {
			delete(tool, name)
			changed = true
		}
	}
	return within(tool, "annotations", func(hints object) bool {
		changed := texts(hints, "title")
		for _, name := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if v, has := hints[name]; has && string(v) != "true" && string(v) != "false" && string(v) != "null" {
				delete(hints, name)
				changed = true
			}
		}
		return changed
	}) || changed
}

// texts makes texts of members that have another type: of numbers and booleans their digits or words; other values are
// left out.
func texts(o object, names ...string) (changed bool) {
	for _, name := range names {
		v, has := o[name]
		if !has || v[0] == '"' {
			continue
		}
		changed = true
		if v[0] == '{' || v[0] == '[' || v[0] == 'n' {
			delete(o, name)
		} else {
			o[name] = encode(string(v))
		}
	}
	return changed
}

// within changes an object inside an object.
func within(o object, name string, change func(object) bool) bool {
	var inner object
	if json.Unmarshal(o[name], &inner) != nil || inner == nil || !change(inner) {
		return false
	}
	o[name] = encode(inner)
	return true
}

// maxParts is how many parts of a result, or tools of a page, come in: each takes much more memory than its bytes.
const maxParts = 4096

// each changes the objects of a list; what is none is left out.
func each(o object, name string, change func(object) bool) (changed bool) {
	var list, kept []json.RawMessage
	if json.Unmarshal(o[name], &list) != nil {
		return false
	}
	if len(list) > maxParts {
		list, changed = list[:maxParts], true
	}
	for _, one := range list {
		var inner object
		if json.Unmarshal(one, &inner) != nil || inner == nil {
			changed = true
			continue
		}
		if change(inner) {
			one, changed = encode(inner), true
		}
		kept = append(kept, one)
	}
	if changed {
		o[name] = encode(kept)
	}
	return changed
}

// encode writes a value that was JSON before.
func encode(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts and what was read can't fail
	return bytes.TrimSpace(out.Bytes())
}
