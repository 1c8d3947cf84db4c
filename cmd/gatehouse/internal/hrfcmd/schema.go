package hrfcmd

import (
	"bytes"
	"encoding/json"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core/hrf"
)

// Schema is gatehouse hrf schema.
type Schema struct {
	JSON bool   `default:"true" hidden:""` // it is
	Of   string `arg:"" name:"what" optional:"" enum:"envelope,script" default:"envelope" help:"${schema_of}"`
}

// Help says more than one line.
func (Schema) Help() string {
	return "The schema (draft 2020-12) describes the strict profile, for editors and other validators. Only " +
		"gatehouse hrf validate finds what JSON Schema " +
		"can't express: repeated keys, and faults in expressions."
}

// Run prints the schema and nothing else.
func (c Schema) Run(a *cli.App) error {
	schema := hrf.Schema
	if c.Of == "script" {
		schema = hrf.ScriptSchema()
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, schema, "", "  "); err != nil {
		return err
	}
	return a.PrintRaw(string(bytes.TrimSpace(indented.Bytes())) + "\n")
}
