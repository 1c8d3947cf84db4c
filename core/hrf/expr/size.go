package expr

import "encoding/json"

// What a member and an item take besides key and value: quotes, colon, comma.
const (
	ofMember = 4
	ofItem   = 1
)

// Size is about the length of a value's JSON.
func Size(v any) int {
	size := 2
	switch v := v.(type) {
	case string:
		return size + len(v)
	case json.Number:
		return len(v)
	case []any:
		for _, item := range v {
			size += ofItem + Size(item)
		}
	case map[string]any:
		for key, item := range v {
			size += ofMember + len(key) + Size(item)
		}
	default:
		return len("false")
	}
	return size
}
