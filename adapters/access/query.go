package access

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Query returns the parameters of a request's address. It refuses, with 400 and the parameter's name, one that is not
// known here, one that is given twice, and a query that can't be read: to ignore it would show something else than what
// was asked for.
func Query(r *http.Request, known ...string) (url.Values, error) {
	refusal := &Refusal{
		Status: http.StatusBadRequest, Code: "invalid_request",
		Message: "The query of this address can't be read: escape it as a form is.",
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refusal
	}
	for name, all := range values {
		if len(all) > 1 || !slices.Contains(known, name) {
			refusal.Field = name[:min(len(name), 40)]
			refusal.Message = fmt.Sprintf(
				"The parameter %q is not known here, or is given twice. There are, once each: %s.", refusal.Field,
				strings.Join(known, ", "))
			return nil, refusal
		}
	}
	return values, nil
}
