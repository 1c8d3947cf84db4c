// Package description compares calls of Discord's REST API with Discord's own description of it: JSON Schema inside
// OpenAPI. In it POST /channels/{channel_id}/messages has a requestBody whose content has at most 4,000 characters.
package description

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Description is Discord's description. It is safe for concurrent use.
type Description struct {
	root, paths map[string]any

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by their place in the document; compiled at their first use
}

const document = "https://discord.test/description.json" // absolute: a relative name would follow the working directory

// parse reads a description as it is.
func parse(text []byte) (*Description, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading Discord's description: %w", err)
	}
	root, _ := doc.(map[string]any)
	paths, _ := root["paths"].(map[string]any)
	return &Description{root: root, paths: paths, schemas: map[string]*jsonschema.Schema{}}, nil
}

// Read reads a description, or the parts of one.
func Read(text []byte) (*Description, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	if kind := d.component([]string{"components", "schemas", "MessageReferenceType"}); kind != nil {
		// The description lacks the reference of a forward, which the documentation has (resources/message).
		known, _ := kind["oneOf"].([]any)
		kind["oneOf"] = append(known, map[string]any{"title": "FORWARD", "const": json.Number("1")})
	}
	d.compiler = jsonschema.NewCompiler()
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	// The whole document is the resource; only the schemas that are used are compiled.
	if err := d.compiler.AddResource(document, d.root); err != nil {
		return nil, fmt.Errorf("reading Discord's description: %w", err)
	}
	return d, nil
}

// Operation is a method of a path.
type Operation struct {
	d     *Description
	where []string // in the document
	node  map[string]any
}

// Operation returns the operation for a request's path after the API's version; ok is false if Discord describes none.
func (d *Description) Operation(method, path string) (o Operation, ok bool) {
	steps := strings.Split(path, "/")
	best, exact := "", -1
	for pattern := range d.paths {
		if n := matches(strings.Split(pattern, "/"), steps); n > exact {
			best, exact = pattern, n
		}
	}
	if exact < 0 {
		return Operation{}, false
	}
	item, _ := d.paths[best].(map[string]any)
	node, ok := item[strings.ToLower(method)].(map[string]any)
	return Operation{d, []string{"paths", best, strings.ToLower(method)}, node}, ok
}

// matches returns how many steps of a path equal those of a pattern, all others being parameters; -1: it does not
// match.
func matches(pattern, steps []string) int {
	if len(pattern) != len(steps) {
		return -1
	}
	n := 0
	for i, step := range pattern {
		switch {
		case step == steps[i]:
			n++
		case !strings.HasPrefix(step, "{"):
			return -1
		}
	}
	return n
}

// Request returns what is wrong with the JSON of a request's body; nil: nothing. An empty text is no body.
func (o Operation) Request(body []byte) error {
	described, _ := o.node["requestBody"].(map[string]any)
	if len(body) == 0 || string(body) == "null" {
		if required, _ := described["required"].(bool); required {
			return fmt.Errorf("a body is required")
		}
		return nil
	}
	if described == nil {
		return fmt.Errorf("a body is sent, and none is described")
	}
	return o.check(body, "requestBody", "content", "application/json", "schema")
}

// Answer returns what is wrong with the JSON of an answer; nil: nothing.
func (o Operation) Answer(status int, body []byte) error {
	responses, _ := o.node["responses"].(map[string]any)
	for _, key := range []string{strconv.Itoa(status), strconv.Itoa(status/100) + "XX"} {
		described, ok := responses[key].(map[string]any)
		if !ok {
			continue
		}
		at := []string{"responses", key}
		if status >= 400 {
			body = withoutDetails(body)
		}
		if ref, ok := described["$ref"].(string); ok { // to components/responses
			o.where = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
			at, described = nil, o.d.component(o.where)
		}
		content, _ := described["content"].(map[string]any)
		switch {
		case content == nil && len(body) > 0:
			return fmt.Errorf("an answer with a body, and none is described for %d", status)
		case content == nil:
			return nil
		}
		return o.check(body, append(at, "content", "application/json", "schema")...)
	}
	return fmt.Errorf("the status %d is not described", status)
}

// withoutDetails removes the details about a form's faults from an error. The description has numbers for their codes,
// while Discord's documentation, and Discord, have words.
func withoutDetails(body []byte) []byte {
	var o map[string]json.RawMessage
	if json.Unmarshal(body, &o) != nil {
		return body
	}
	delete(o, "errors")
	rest, _ := json.Marshal(o) // can't fail: it is JSON that was read
	return rest
}
