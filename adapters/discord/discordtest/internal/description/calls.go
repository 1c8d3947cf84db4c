package description

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Calls compares calls with a description, and keeps what differs. It is safe for concurrent use.
type Calls struct {
	*Description // nil: nothing is compared

	noting     sync.Mutex
	deviations []string
}

// maxDeviations is how many deviations are kept: most repeat the first.
const maxDeviations = 10

// Deviations returns where requests, or the fake's own answers, differ from the description.
func (c *Calls) Deviations() []string {
	c.noting.Lock()
	defer c.noting.Unlock()
	return slices.Clone(c.deviations)
}

// described returns the description of a call; ok is false if nothing is compared.
func (c *Calls) described(method, path string) (o Operation, ok bool) {
	if c.Description == nil {
		return o, false
	}
	if o, ok = c.Operation(method, path); !ok {
		c.deviates("%s %s is not described", method, path)
	}
	return o, ok
}

// Compare compares a call with the description: the JSON that was sent, with the names of its files by those of their
// parts (nil: it is no form), and the answer, nil if the fake did not answer by itself. A request that the fake itself
// refuses is not compared: a test may send it on purpose.
func (c *Calls) Compare(r *http.Request, sent []byte, files map[string]string, status int, answer []byte) {
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/"), "/")
	o, ok := c.described(r.Method, "/"+path)
	if !ok {
		return
	}
	if answer == nil || status < http.StatusBadRequest {
		err := o.Request(sent)
		if files != nil {
			err = errors.Join(err, o.Form(sent, files))
		}
		if err := errors.Join(err, o.Query(r.URL.Query())); err != nil {
			c.deviates("a request differs from Discord's description: %s %s %s: %v", r.Method, r.URL.RequestURI(),
				sent, err)
		}
	}
	if answer == nil {
		return
	}
	if err := o.Answer(status, answer); err != nil {
		c.deviates("an answer of the fake differs from Discord's description: %s %s %d %s: %v", r.Method, r.URL.Path,
			status, answer, err)
	}
}

// CompareResponse compares an app's answer to an interaction over HTTP, which has the form of a call.
func (c *Calls) CompareResponse(answer []byte) {
	o, ok := c.described(http.MethodPost, "/interactions/1/token/callback")
	if !ok {
		return
	}
	if err := o.Request(answer); err != nil {
		c.deviates("an answer to an interaction differs from Discord's description: %s: %v", answer, err)
	}
}

func (c *Calls) deviates(format string, args ...any) {
	c.noting.Lock()
	defer c.noting.Unlock()
	if len(c.deviations) < maxDeviations {
		c.deviations = append(c.deviations, fmt.Sprintf(format, args...))
	}
}
