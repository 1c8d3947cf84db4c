package hrfcmd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// stubs are the tools of a dry run, by recipient.
type stubs map[string]stub

// stub answers every call alike.
type stub struct {
	result any
	fails  error
	args   json.RawMessage // the JSON Schema of the arguments; nil: none
}

// readStubs reads the file of --tools; without one there are no tools.
func readStubs(file string) (stubs, error) {
	all := stubs{}
	object, text, err := readObject(file)
	if err != nil {
		return nil, err
	}
	for _, tool := range object.Members {
		var s stub
		if s.result, s.fails, err = stubOf(tool.Value); err != nil {
			return nil,
				core.Errorf(core.Invalid, "%s:%d:%d: %s: %s", file, tool.Line, tool.Column, tool.Key, err.Error())
		}
		if schema := tool.Value.Get("schema"); schema != nil {
			s.args = schema.Raw(text)
		}
		all[tool.Key] = s
	}
	return all, nil
}

// stubOf reads what a tool gives.
func stubOf(v *strictjson.Value) (result any, fails, err error) {
	for _, m := range v.Members {
		switch m.Key {
		case "result", "error", "schema":
		default:
			return nil, nil, errors.New("unknown key " + m.Key + "; known: result, error, schema")
		}
	}
	given, fault := v.Get("result"), v.Get("error")
	switch {
	case (given == nil) == (fault == nil):
		return nil, nil, errors.New(`write {"result": …} or {"error": …}`)
	case given != nil:
		return given.Any(), nil, nil
	case fault.Kind == strictjson.String:
		return nil, errors.New(fault.String), nil
	}
	text, _ := json.Marshal(fault.Any()) // JSON already
	return nil, errors.New(string(text)), nil
}

// Schema tells whether a tool has a stub, and its schema.
func (s stubs) Schema(recipient string) (json.RawMessage, bool) {
	tool, known := s[recipient]
	return tool.args, known
}

func (s stubs) call(_ context.Context, recipient string, _ map[string]any) (any, error) {
	return s[recipient].result, s[recipient].fails
}

// readObject reads a file that holds a JSON object, and gives its text too. No file is an empty object.
func readObject(file string) (*strictjson.Value, []byte, error) {
	if file == "" {
		return &strictjson.Value{Kind: strictjson.Object}, nil, nil
	}
	text, err := core.ReadText(file)
	if err != nil {
		return nil, nil, core.Errorf(core.Invalid, "%v", err)
	}
	object, err := strictjson.Parse(text)
	if err != nil {
		return nil, nil, core.Errorf(core.Invalid, "%s: %v", file, err)
	}
	if object.Kind != strictjson.Object {
		return nil, nil, core.Errorf(core.Invalid, "%s must hold a JSON object, not %s", file, object.Kind)
	}
	return object, text, nil
}

// readFile reads an envelope; - is standard input.
func readFile(a *cli.App, file string) (text []byte, err error) {
	if file == "-" {
		text, err = io.ReadAll(a.In)
	} else {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, core.Errorf(core.Invalid, "%v", err)
	}
	return text, nil
}
