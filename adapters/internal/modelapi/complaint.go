package modelapi

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strconv"
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
	Param      string // the field that it is about
	Request    string // the vendor's id of the request

	wait time.Duration // how long it asks to wait
	page bool          // it is no JSON, but a page or a text
	html bool          // a page
}

// longestMessage bounds what of a vendor's sentence is passed on.
const longestMessage = 500

// Complaint reads what an answer with a bad status says. The forms differ: an object "error" in the body, vLLM's
// without that, Ollama's plain text.
func (e *Endpoint) Complaint(a Answer) Complaint {
	c := Complaint{
		Status: a.Status, Request: cmp.Or(a.Header.Get("Request-Id"), a.Header.Get("X-Request-Id")),
		wait: retryafter.Of(a.Header, time.Now()),
	}
	v, err := strictjson.Parse(a.Body, strictjson.Repeats, strictjson.Replace)
	if err != nil {
		c.page = len(bytes.TrimSpace(a.Body)) > 0
		c.html = bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
		return c
	}
	v = Unlisted(v)
	inner := v.Get("error")
	if inner == nil {
		inner = v
	}
	c.Kind, c.Code, c.Param = Text(inner, "type"), Text(inner, "code"), Text(inner, "param")
	c.Message = cmp.Or(Text(inner, "message"), inner.String, Text(inner, "detail"), Text(inner, "status_msg"))
	if code := inner.Get("code"); code != nil && code.Kind == strictjson.Number {
		c.Code = code.Number.String()
	}
	c.Message = strings.Join(strings.Fields(e.scrub(c.Message)), " ")
	if c.wait == 0 {
		c.wait = asksToWait(c.Message)
	}
	if len(c.Message) > longestMessage {
		c.Message = strings.ToValidUTF8(c.Message[:longestMessage], "") + "…"
	}
	return c
}

// Unlisted is the first of a list of errors, as Gemini sends one; what is no list is itself.
func Unlisted(v *strictjson.Value) *strictjson.Value {
	if v.Kind == strictjson.Array && len(v.Items) > 0 {
		return v.Items[0]
	}
	return v
}

// Error is for the log.
func (c Complaint) Error() string {
	return fmt.Sprintf("status %d, type %q, code %q, request %q: %s", c.Status, c.Kind, c.Code, c.Request, c.Message)
}

var wholeNumber = regexp.MustCompile(`\d[\d,]*`)

// Below is the highest number that the vendor names below one that was asked for: the limit that it has. ok is false if
// it names none.
func (c Complaint) Below(asked int64) (limit int64, ok bool) {
	for _, text := range wholeNumber.FindAllString(c.Message, -1) {
		n, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
		if err == nil && n < asked && n > limit {
			limit, ok = n, true
		}
	}
	return limit, ok
}

// Says is all that the vendor says, for a search in it.
func (c Complaint) Says() string { return c.Message + " " + c.Kind + " " + c.Code }
