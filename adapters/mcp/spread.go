package mcp

import (
	"slices"
	"strconv"
	"strings"
)

// maxWork is how many parts a schema may have with the references in it followed.
const maxWork = 10_000

// spread reports whether a schema stays small when its references are followed: a few that each refer to the next twice would keep whoever
// checks arguments against them busy for ever. A circle is followed once. path are the references that led here.
func spread(root, v any, path []string, work *int) bool {
	if *work--; *work < 0 {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for key, part := range v {
			if ref, ok := part.(string); ok && (key == "$ref" || key == "$dynamicRef") {
				target, found := partOf(root, ref)
				if !found || !slices.Contains(path, ref) && !spread(root, target, append(slices.Clone(path), ref), work) {
					return false
				}
				continue
			}
			if key != "$defs" && key != "definitions" && !spread(root, part, path, work) {
				return false
			}
		}
	case []any:
		for _, part := range v {
			if !spread(root, part, path, work) {
				return false
			}
		}
	}
	return true
}

// partOf gives the part of a schema that a reference names, by a JSON pointer.
func partOf(root any, ref string) (any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && !strings.HasPrefix(pointer, "/") {
		return nil, false
	}
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch at := root.(type) {
		case map[string]any:
			if root, ok = at[step]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			root = at[i]
		default:
			return nil, false
		}
	}
	return root, true
}
