package expr

import (
	"encoding/json"
	"strconv"
	"strings"
)

// textOf is what a template inserts for a value.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case string:
		return v
	case json.Number:
		if d, ok := parseDecimal(string(v)); ok && !d.beyond {
			return d.String()
		}
		return string(v)
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "" // not JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}
