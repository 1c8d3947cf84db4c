package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// described compares a request that was accepted, and every answer, with what /v1/openapi.json says of them.
func (c agentClient) described(method, path, body string, status int, answer []byte) {
	c.t.Helper()
	document, err := http.Get(c.at + "/v1/openapi.json")
	noErr(c.t, err)
	defer document.Body.Close()
	text, err := io.ReadAll(document.Body)
	noErr(c.t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	noErr(c.t, err)
	paths := doc.(map[string]any)["paths"].(map[string]any)
	at := "/v1/approvals"
	if strings.HasPrefix(path, at+"/") {
		at += "/{id}"
	}
	operation, _ := paths[at].(map[string]any)[strings.ToLower(method)].(map[string]any)
	if responses, _ := operation["responses"].(map[string]any); responses[fmt.Sprint(status)] == nil {
		c.t.Errorf("%s %s: the description knows no answer with %d", method, at, status)
		return
	}
	schemas := jsonschema.NewCompiler()
	noErr(c.t, schemas.AddResource("openapi.json", doc))
	check := func(name string, text []byte) {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = schemas.MustCompile("openapi.json#/components/schemas/" + name).Validate(value)
		}
		if err != nil {
			c.t.Errorf("%s %s: %d %.300s is no %s of the description: %v", method, path, status, text, name, err)
		}
	}
	if status >= 300 {
		check("Fault", answer)
		return
	}
	check("State", answer)
	if method == http.MethodPost {
		check("Ask", []byte(body))
	}
}
