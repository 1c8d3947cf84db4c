package hrf

import (
	"bytes"
	"encoding/json"

	"gatehouse/core/strictjson"
)

// Encode returns an envelope as JSON without white space. Fields that are "" are left out; in content, members keep
// their order and numbers their digits. It uses only the envelope's Version and Messages.
func Encode(e *Envelope) []byte {
	b := appendString([]byte(`{"HRFVersion":`), e.Version)
	b = append(b, `,"messages":[`...)
	for i, m := range e.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMessage(b, m)
	}
	return append(b, "]}"...)
}

func appendMessage(b []byte, m Message) []byte {
	b = appendString(append(b, `{"role":`...), m.Role)
	for _, field := range []struct{ key, value string }{
		{"channel", m.Channel}, {"recipient", m.Recipient}, {"contentType", m.ContentType},
		{"termination", m.Termination},
	} {
		if field.value != "" {
			b = append(appendString(append(b, ','), field.key), ':')
			b = appendString(b, field.value)
		}
	}
	return append(AppendValue(append(b, `,"content":`...), m.Content), '}')
}

// AppendValue appends a value as JSON without white space. Members keep their order and numbers their digits.
func AppendValue(b []byte, v *strictjson.Value) []byte {
	switch v.Kind {
	case strictjson.Object:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendValue(append(appendString(b, m.Key), ':'), m.Value)
		}
		return append(b, '}')
	case strictjson.Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendValue(b, item)
		}
		return append(b, ']')
	case strictjson.Number:
		return append(b, v.Number...)
	case strictjson.String:
		return appendString(b, v.String)
	case strictjson.Bool:
		if v.Bool {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	}
	return append(b, "null"...)
}

func appendString(b []byte, s string) []byte {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string is always encodable
	return append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}
