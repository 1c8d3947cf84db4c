package agents

import (
	_ "embed"
	"net/http"
)

// description is the OpenAPI 3.1 description of /v1/approvals.
//
//go:embed openapi.json
var description []byte

func serveDescription(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "max-age=3600")
	_, _ = w.Write(description)
}
