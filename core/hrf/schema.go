package hrf

import (
	_ "embed"

	"gatehouse/core/strictjson"
)

// Schema is the JSON Schema (draft 2020-12) of envelopes in the strict profile, with that of scripts in it. What it
// accepts is valid, unless a key is repeated or an expression does not compile: JSON Schema can't express these.
//
//go:embed envelope.schema.json
var Schema []byte

// ScriptSchema returns the JSON Schema of scripts, as it stands in Schema.
func ScriptSchema() []byte {
	v, err := strictjson.Parse(Schema)
	if err != nil {
		panic(err) // it is part of the program
	}
	return v.Get("$defs").Get("script").Raw(Schema)
}
