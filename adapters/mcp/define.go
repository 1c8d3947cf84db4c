package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp/internal/schema"
	"gatehouse/core"
)

const (
	maxDescription = 4 << 10  // bytes of a description that the model sees
	maxDefinition  = 64 << 10 // bytes of all that a server says about a tool
)

// definition is what a server says about a tool, as it was when it was listed.
type definition struct {
	name        string // in gatehouse: server.tool
	remote      string // on the server
	description string
	schema      json.RawMessage // of the arguments, as it is read
	unchecked   []string        // what of the server's schema is left out of it
	digest      string          // hexadecimal, of all that the server says about it
	destructive bool            // the server says that it destroys
	destroyed   bool            // it said so when it was first seen, of a definition that differs from this one
	hints       core.Annotations
	standing    Standing
	pin         Pin
}

// Standing is what a tool may do.
type Standing string

// The standings, in the policy's words. Only a tool that reads runs without being suspended first.
const (
	Reads     Standing = "read"
	Writes    Standing = "write"
	Dangerous Standing = "destructive"
	// the admin said that it only reads, and then its definition changed: it writes until that is confirmed
	Changed Standing = "changed"
)

// define reads what a server says about a tool. masker removes secrets from what people and models read; the digest is
// of what was said.
func define(t *sdk.Tool, masker schema.Masker) (definition, error) {
	input, err := json.Marshal(t.InputSchema)
	if err != nil {
		return definition{}, errors.New("its schema is not valid JSON")
	}
	if string(input) == "null" {
		input = []byte(`{"type":"object"}`)
	}
	all, err := json.Marshal(struct {
		Name, Title, Description string
		Input                    json.RawMessage
		Output                   any
		Annotations              *sdk.ToolAnnotations
	}{t.Name, t.Title, t.Description, input, t.OutputSchema, t.Annotations})
	if err != nil {
		return definition{}, errors.New("its definition is not valid JSON")
	}
	if len(all) > maxDefinition {
		return definition{}, fmt.Errorf("its definition has %d bytes; at most %d are allowed", len(all), maxDefinition)
	}
	view, unchecked, err := schema.Read(t.InputSchema, masker)
	if err != nil {
		return definition{}, err
	}
	sum := sha256.Sum256(all)
	d := definition{
		remote: t.Name, description: describe(t, masker) + alone(unchecked), schema: view, unchecked: unchecked,
		digest: hex.EncodeToString(sum[:]),
	}
	if a := t.Annotations; a != nil {
		d.destructive = a.DestructiveHint != nil && *a.DestructiveHint
		d.hints = core.Annotations{ReadOnly: a.ReadOnlyHint && !d.destructive, Idempotent: a.IdempotentHint}
		d.hints.Additive = d.hints.ReadOnly || a.DestructiveHint != nil && !d.destructive
	}
	return d, nil
}

// describe gives a tool's description for the model.
func describe(t *sdk.Tool, masker schema.Masker) string {
	text := t.Description
	if text == "" {
		text = t.Title
	}
	return cut(masker.Hide(strings.TrimSpace(text)), maxDescription)
}

// maxTold is how many parts of a schema that are left out a description tells.
const maxTold = 8

// alone tells a model what it will not be told before the server sees the call.
func alone(unchecked []string) string {
	if len(unchecked) == 0 {
		return ""
	}
	text := strings.Join(unchecked[:min(maxTold, len(unchecked))], ", ")
	if more := len(unchecked) - maxTold; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "\n\nThe server alone checks: " + text + "."
}
