package agents

import (
	"net/http"
	"strings"

	"gatehouse/core"
)

// Nowhere answers a program about a path below /v1 that has no handler or, with the methods that the path takes, about
// another method.
func Nowhere(methods ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(methods) == 0 {
			writeFault(w, core.Errorf(core.NotFound, "There is nothing at this address. GET /v1/openapi.json says "+
				"what there is for approvals."))
			return
		}
		allowed := strings.Join(methods, ", ")
		w.Header().Set("Allow", allowed)
		writeJSON(w, http.StatusMethodNotAllowed, Fault{FaultDetail{
			"method_not_allowed", "This address takes " + allowed + ", not " + r.Method + ".",
		}})
	})
}
