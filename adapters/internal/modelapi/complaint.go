package modelapi

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/internal/retryafter"
	"gatehouse/core/strictjson"
)

// Complaint is what an answer with a bad status says.
type Complaint struct {
	Status     int
	Message    string // the vendor's sentence, without the key
	Kind, Code string // the vendor's words for the error
	Request    string // the vendor's id of the request

	wait time.Duration // how long it asks to wait
}

// longestMessage bounds what of a vendor's sentence is passed on.
const longestMessage = 500

// Complaint reads what an answer with a bad status says. The forms differ: an object "error" in the body, vLLM's without that, Ollama's plain text.
func (e *Endpoint) Complaint(a Answer) Complaint {
	c := Complaint{Status: a.Status, Request: cmp.Or(a.Header.Get("Request-Id"), a.Header.Get("X-Request-Id")), wait: retryafter.Of(a.Header, time.Now())}
	v, err := strictjson.Parse(a.Body, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		return c
	}
	inner := v.Get("error")
	if inner == nil {
		inner = v
	}
	c.Kind, c.Code, c.Message = Text(inner, "type"), Text(inner, "code"), cmp.Or(Text(inner, "message"), inner.String, Text(inner, "detail"))
	if code := inner.Get("code"); code != nil && code.Kind == strictjson.Number {
		c.Code = code.Number.String()
	}
	c.Message = strings.Join(strings.Fields(e.scrub(c.Message)), " ")
	if len(c.Message) > longestMessage {
		c.Message = strings.ToValidUTF8(c.Message[:longestMessage], "") + "…"
	}
	return c
}

// Error is for the log.
func (c Complaint) Error() string {
	return fmt.Sprintf("status %d, type %q, code %q, request %q: %s", c.Status, c.Kind, c.Code, c.Request, c.Message)
}

// Says is all that the vendor says, for a search in it.
func (c Complaint) Says() string { return c.Message + " " + c.Kind + " " + c.Code }
