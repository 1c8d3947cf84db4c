package prompt

import (
	"bytes"
	"encoding/json"
	"errors"

	"gatehouse/core"
)

// HashTemplate gives the hash of a prompt's template or chat_template (prompt-management §3, §3.1): "sha256:" and 64
// hexadecimal digits. Equal templates have equal hashes, whatever their names and labels are.
func HashTemplate(p Prompt) string {
	type segment struct {
		Role        core.Role    `json:"role,omitempty"`
		Content     core.Content `json:"content,omitzero"`
		Placeholder string       `json:"placeholder,omitempty"`
	}
	var form any = map[string]string{"template": p.Template}
	if p.IsChat() {
		segments := []segment{}
		for _, s := range p.Chat {
			segments = append(segments, segment(s))
		}
		form = map[string][]segment{"chat_template": segments}
	}
	data, err := json.Marshal(form)
	if err != nil {
		panic(err) // these types can be written
	}
	return core.Digest(data)
}

// hashMessages gives the hash of rendered messages: of their JSON, with sorted keys, so that the order of keys in a
// call's arguments does not count.
func hashMessages(messages []core.Message) (string, error) {
	data, err := json.Marshal(messages)
	if err != nil {
		return "", errors.New("a message can't be written as JSON: " + err.Error())
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	var plain any
	if err = in.Decode(&plain); err == nil {
		data, err = json.Marshal(plain)
	}
	return core.Digest(data), err
}
