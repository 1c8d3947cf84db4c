package settings

import (
	"reflect"
	"slices"
)

// texts are the settings that name a file whose text is used from the start of the process to its end.
var texts = map[string]bool{
	"GATEHOUSE_SYSTEM_PROMPT_FILE": true, "GATEHOUSE_GREETING_FILE": true, "GATEHOUSE_REPLIES": true,
}

// Changes are what differs between the settings in force and those that were read again. The process's environment
// never changes, so it is what files hold.
type Changes struct {
	Tokens bool     // of people
	Models bool     // the models that are asked, or their keys
	Unused []string // the keys of settings that are used after a restart only
}

// ChangesTo compares the settings with ones that were read later.
func (c Config) ChangesTo(next Config) (all Changes) {
	all.Tokens = !slices.Equal(c.Tokens, next.Tokens)
	all.Models = !reflect.DeepEqual(c.Model.Chosen, next.Model.Chosen)
	reloaded := append(c.ofVendors(), "GATEHOUSE_TOKENS")
	for i, was := range c.settings {
		now := next.settings[i] // they are the same ones, of the same program
		if was.digest != now.digest && !slices.Contains(reloaded, was.Key) {
			all.Unused = append(all.Unused, was.Key)
		}
	}
	if c.Script != nil && next.Script != nil && c.Script.Digest != next.Script.Digest {
		all.Unused = append(all.Unused, "GATEHOUSE_AGENT")
	}
	return all
}

// ofVendors are the keys of the settings that vendors of models have.
func (c Config) ofVendors() (keys []string) {
	for _, v := range c.Vendors {
		for field := range reflect.TypeOf(v).Elem().Fields() {
			keys = append(keys, field.Tag.Get("envconfig"))
		}
	}
	return keys
}

// Reloaded returns the settings in force with what was read again of them: the tokens, the models and the MCP servers.
// The policy and the tools are replaced where they are (see policy.Current.Use, tools.Current.Use).
func (c Config) Reloaded(next Config) Config {
	c.Tokens, c.TokenList = next.Tokens, next.TokenList
	c.Model, c.Vendors, c.MCP = next.Model, next.Vendors, next.MCP
	before := c.settings
	c.settings = slices.Clone(next.settings)
	unused := Config{settings: before, Vendors: c.Vendors}.ChangesTo(Config{settings: next.settings}).Unused
	for i, was := range before {
		if slices.Contains(unused, was.Key) {
			c.settings[i] = was // so that the next comparison names it, too
		}
	}
	return c
}
