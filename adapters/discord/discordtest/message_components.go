package discordtest

import (
	"maps"

	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// wireComponents encodes the components of a message: Discord numbers those that have no id.
func wireComponents(sent []object) []object {
	taken, next := map[int]bool{}, 0
	var walk func(components []object, do func(object) object) []object
	walk = func(components []object, do func(object) object) []object {
		done := []object{}
		for _, c := range components {
			c = do(maps.Clone(c))
			if inner := wire.List(c, "components"); inner != nil {
				c["components"] = walk(inner, do)
			}
			done = append(done, c)
		}
		return done
	}
	walk(sent, func(c object) object {
		taken[wire.Int(c, "id")] = true
		return c
	})
	return walk(sent, func(c object) object {
		if wire.Int(c, "id") == 0 {
			for next++; taken[next]; next++ {
			}
			c["id"] = next
		}
		return c
	})
}
