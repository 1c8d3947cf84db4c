package description

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// check compares JSON with the schema at a place of the operation.
func (o Operation) check(body []byte, place ...string) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	s, err := o.d.schema(append(append([]string{}, o.where...), place...))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

// Query returns what is wrong with the parameters of a request; nil: nothing.
func (o Operation) Query(sent url.Values) error {
	described, _ := o.node["parameters"].([]any)
	for name := range sent {
		found := false
		for i, one := range described {
			p, _ := one.(map[string]any)
			if p["name"] != name || p["in"] != "query" {
				continue
			}
			found = true
			body := []byte(sent.Get(name))
			if schema, _ := p["schema"].(map[string]any); schema["type"] != "integer" && schema["type"] != "boolean" {
				body, _ = json.Marshal(sent.Get(name)) // can't fail: it is a text
			}
			if err := o.check(body, "parameters", fmt.Sprint(i), "schema"); err != nil {
				return fmt.Errorf("the parameter %s: %w", name, err)
			}
		}
		if !found {
			return fmt.Errorf("the parameter %s is not described", name)
		}
	}
	return nil
}

// schema compiles the schema at a place of the document.
func (d *Description) schema(place []string) (*jsonschema.Schema, error) {
	var at strings.Builder
	at.WriteString(document + "#")
	for _, step := range place {
		at.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(step)))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[at.String()]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(at.String())
	if err != nil {
		//nolint:staticcheck // it begins with a name
		return nil, fmt.Errorf("Discord's description of %s can't be used: %w", strings.Join(place, " "), err)
	}
	d.schemas[at.String()] = s
	return s, nil
}

// component returns an object of the document.
func (d *Description) component(place []string) map[string]any {
	at := d.root
	for _, step := range place {
		at, _ = at[step].(map[string]any)
	}
	return at
}
