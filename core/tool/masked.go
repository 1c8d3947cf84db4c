package tool

import (
	"strings"

	"gatehouse/core/mask"
	"gatehouse/core/strictjson"
)

// masked finds a text or a key in the arguments that holds the mark of what is hidden: a model has copied it from where
// it read no more than that. Every tool refuses it, since the mark would be sent in place of the value. at is where it
// is, as in customer/name.
func masked(v *strictjson.Value) (at string, found bool) {
	var path []string
	var look func(v *strictjson.Value) bool
	look = func(v *strictjson.Value) bool {
		if strings.Contains(v.String, mask.Mark) {
			return true
		}
		for _, item := range v.Items {
			if look(item) {
				return true
			}
		}
		for _, m := range v.Members {
			path = append(path, m.Key)
			if strings.Contains(m.Key, mask.Mark) || look(m.Value) {
				return true
			}
			path = path[:len(path)-1]
		}
		return false
	}
	found = look(v)
	return strings.Join(path, "/"), found
}
