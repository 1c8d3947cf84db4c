package description

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// filePart is the name of a part with a file.
var filePart = regexp.MustCompile(`^files\[\d\]$`)

// attached is what a payload says about the files of its form.
type attached struct {
	Attachments []struct {
		ID       any    `json:"id"`
		Filename string `json:"filename"`
	} `json:"attachments"`
}

// Form returns what is wrong with a form of several parts, besides its payload; nil: nothing. files are the names of
// its files by those of their parts.
func (o Operation) Form(payload []byte, files map[string]string) error {
	all := map[string]json.RawMessage{}
	var said struct {
		attached
		Data attached `json:"data"` // of an answer to an interaction
	}
	if err := errors.Join(json.Unmarshal(payload, &all), json.Unmarshal(payload, &said)); err != nil {
		return fmt.Errorf("the payload of a form: %w", err)
	}
	var faults []error
	for _, part := range slices.Sorted(maps.Keys(files)) {
		if !filePart.MatchString(part) {
			faults = append(faults, fmt.Errorf("a file is in the part %q, which is not files[0] to files[9]", part))
		}
		all[part] = json.RawMessage(`""`)
	}
	// The ids of those that a message has already are far longer than the number of a part.
	for _, a := range append(said.Attachments, said.Data.Attachments...) {
		id := fmt.Sprint(a.ID)
		name, there := files["files["+id+"]"]
		switch {
		case len(id) > 1:
		case !there:
			faults = append(faults, fmt.Errorf("the attachment %s has no part files[%s]", id, id))
		case a.Filename != "" && a.Filename != name:
			faults = append(faults, fmt.Errorf("the attachment %s is called %q, and its part %q", id, a.Filename, name))
		}
	}
	body, _ := json.Marshal(all) // can't fail: it is JSON that was read
	return errors.Join(append(faults, o.check(body, "requestBody", "content", "multipart/form-data", "schema"))...)
}
