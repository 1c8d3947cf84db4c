package typestate

import (
	"cmp"
	"encoding/json"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// The statuses of a result and the dispositions of a use (§3.2). There is no pending status: a call without a row has
// not ended.
const (
	OK     = "ok"
	Failed = "error"

	Consumed  = "consumed"
	Observed  = "observed"
	Discarded = "discarded"
)

// unknownError is the code of an error without one; such a row is tool.schema_invalid too.
const unknownError = "unknown_error"

// toolResult normalises a row. Typed fields take precedence over a raw error that is an object. If the raw error has
// two names for a field, the first one that exists counts here, usable or not; complete tries both.
func (c *cleaner) toolResult(at string, r ToolResult) Result {
	raw := parsed(r.RawError)
	code := cmp.Or(strings.TrimSpace(r.ErrorCode), firstOf(raw, "errorCode", "code"))
	message := cmp.Or(strings.TrimSpace(r.ErrorMessage), firstOf(raw, "errorMessage", "message"))
	retryable := r.Retryable
	if retryable == nil {
		retryable = flagOf(raw)
	}
	status := lower(strings.TrimSpace(r.Status))
	switch {
	case status == OK || status == Failed:
	case status != "":
		c.fail("%s.status invalid: unsupported value `%s` (expected `ok` or `error`)", at, status)
	case code != "" || message != "" || retryable != nil:
		status = Failed
	default:
		status = OK
	}
	n := Result{
		Status: status, ResultDigest: strings.TrimSpace(r.ResultDigest),
		ToolCallID: c.required(r.ToolCallID, at+".toolCallId"),
	}
	if payload := parsed(r.Payload); n.ResultDigest == "" && payload != nil {
		n.ResultDigest = core.Digest(appendCanonical(nil, payload))
	}
	if status == Failed {
		n.Error = &Envelope{
			ErrorCode: cmp.Or(code, unknownError), Retryable: retryable != nil && *retryable,
			ErrorMessageDigest: Digest(message),
		}
	}
	return n
}

// parsed parses a free-form part; nil if there is none, or if it is not JSON, as may happen with evidence that was not
// decoded.
func parsed(raw json.RawMessage) *strictjson.Value {
	if len(raw) == 0 {
		return nil
	}
	v, err := strictjson.Parse(raw, strictjson.Repeats)
	if err != nil || v.Kind == strictjson.Null || unusable(v, 0) != "" {
		return nil
	}
	return v
}

// lastOf gives a member of a free-form object; the last one of a repeated key, as in the reference.
func lastOf(v *strictjson.Value, key string) *strictjson.Value {
	var found *strictjson.Value
	if v != nil {
		for _, m := range v.Members {
			if m.Key == key {
				found = m.Value
			}
		}
	}
	return found
}

func firstOf(raw *strictjson.Value, names ...string) string {
	for _, name := range names {
		if v := lastOf(raw, name); v != nil {
			return textOf(v)
		}
	}
	return ""
}

func textOf(v *strictjson.Value) string {
	if v == nil || v.Kind != strictjson.String {
		return ""
	}
	return strings.TrimSpace(v.String)
}

func flagOf(raw *strictjson.Value) *bool {
	if v := lastOf(raw, "retryable"); v != nil && v.Kind == strictjson.Bool {
		return &v.Bool
	}
	return nil
}

// failing reports whether a raw row is an error. A raw error without a status is one, even if it holds nothing usable
// and the row normalises to ok.
func failing(r ToolResult) bool {
	switch lower(strings.TrimSpace(r.Status)) {
	case Failed:
		return true
	case OK:
		return false
	}
	return strings.TrimSpace(r.ErrorCode) != "" || r.Retryable != nil || strings.TrimSpace(r.ErrorMessage) != "" ||
		parsed(r.RawError) != nil
}

// complete reports whether a raw row has the complete typed envelope (§3.2).
func complete(r ToolResult) bool {
	raw := parsed(r.RawError)
	return anyText(r.ErrorCode, lastOf(raw, "errorCode"), lastOf(raw, "code")) &&
		anyText(r.ErrorMessage, lastOf(raw, "errorMessage"), lastOf(raw, "message")) &&
		(r.Retryable != nil || flagOf(raw) != nil)
}

func anyText(typed string, raw ...*strictjson.Value) bool {
	for _, v := range raw {
		if textOf(v) != "" {
			return true
		}
	}
	return strings.TrimSpace(typed) != ""
}
