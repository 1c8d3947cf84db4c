package tool

import (
	"fmt"

	"gatehouse/core/strictjson"
)

// Bounds of the arguments of one call, whatever the tool: what checking them against a schema costs grows with both.
const (
	maxDepth  = 32     // levels below the object of the arguments
	maxValues = 10_000 // values at all levels
)

// tooMuch says which bound arguments exceed; "" if none. It stops at the first value that does.
func tooMuch(args *strictjson.Value) string {
	values := 0
	var count func(v *strictjson.Value, depth int) string
	count = func(v *strictjson.Value, depth int) string {
		if values++; values > maxValues {
			return fmt.Sprintf("they have more than %d values; send less in one call", maxValues)
		}
		if depth > maxDepth {
			return fmt.Sprintf("they are more than %d levels deep", maxDepth)
		}
		for _, item := range v.Items {
			if wrong := count(item, depth+1); wrong != "" {
				return wrong
			}
		}
		for _, m := range v.Members {
			if wrong := count(m.Value, depth+1); wrong != "" {
				return wrong
			}
		}
		return ""
	}
	return count(args, 0)
}
