package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// Without returns JSON without the members of these keys, in any case and at any depth. All else stays as it is written. It is for secrets that
// a platform issues for one answer: nothing that is stored contains them. JSON that can't be read becomes null.
func Without(data []byte, keys ...string) []byte {
	v, err := strictjson.Parse(data, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return []byte("null")
	}
	return appendWithout(nil, data, v, keys)
}

func appendWithout(b, data []byte, v *strictjson.Value, keys []string) []byte {
	next := func(open byte) []byte {
		if b[len(b)-1] != open {
			b = append(b, ',')
		}
		return b
	}
	switch v.Kind {
	case strictjson.Object:
		b = append(b, '{')
		for _, m := range v.Members {
			if slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(key, m.Key) }) {
				continue
			}
			key, _ := json.Marshal(m.Key) // strings can always be marshalled
			b = append(append(next('{'), key...), ':')
			b = appendWithout(b, data, m.Value, keys)
		}
		return append(b, '}')
	case strictjson.Array:
		b = append(b, '[')
		for _, item := range v.Items {
			b = appendWithout(next('['), data, item, keys)
		}
		return append(b, ']')
	}
	return append(b, v.Raw(data)...)
}
