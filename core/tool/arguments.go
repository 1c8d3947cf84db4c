package tool

import (
	"encoding/json"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// argument gives a text argument; "" if it is missing or not a text. The arguments were checked before.
func argument(args json.RawMessage, name string) string {
	v, err := strictjson.Parse(args)
	if err != nil {
		return ""
	}
	if s := v.Get(name); s != nil && s.Kind == strictjson.String {
		return s.String
	}
	return ""
}

// requires makes a Check that requires text arguments that are not empty.
func requires(tool string, names ...string) func(json.RawMessage) error {
	return func(args json.RawMessage) error {
		v, err := strictjson.Parse(args)
		if err != nil || v.Kind != strictjson.Object {
			return core.Wrap(core.ToolArguments, err, "The arguments of %s must be a JSON object.", tool)
		}
		for _, name := range names {
			if s := v.Get(name); s == nil || s.Kind != strictjson.String || s.String == "" {
				return core.Errorf(core.ToolArguments, "%s needs the argument %q, a text that is not empty.", tool, name)
			}
		}
		return nil
	}
}
