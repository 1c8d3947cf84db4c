package wire

import "maps"

// Components encodes the components of a message: Discord numbers those that have no id.
func Components(sent []Object) []Object {
	taken, next := map[int]bool{}, 0
	var walk func(components []Object, do func(Object) Object) []Object
	walk = func(components []Object, do func(Object) Object) []Object {
		done := []Object{}
		for _, c := range components {
			c = do(maps.Clone(c))
			if inner := List(c, "components"); inner != nil {
				c["components"] = walk(inner, do)
			}
			done = append(done, c)
		}
		return done
	}
	walk(sent, func(c Object) Object {
		taken[Int(c, "id")] = true
		return c
	})
	return walk(sent, func(c Object) Object {
		if Int(c, "id") == 0 {
			for next++; taken[next]; next++ {
			}
			c["id"] = next
		}
		return c
	})
}
