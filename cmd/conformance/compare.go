package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// plain brings whatever JSON can write into the form of doc.value: numbers are int64 or float64.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("unwritable: %v", err)
	}
	parsed, err := strictjson.Parse(data)
	if err != nil {
		return fmt.Sprintf("unreadable: %v", err)
	}
	return numbers(parsed.Any())
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

// matcher compares what is expected with what is there. Tokens in texts stand for values: "<uuid>", "<any-string>", and
// "<name_X>", which is bound where it first stands.
type matcher struct{ bound map[string]any }

var (
	uuid4     = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	nameToken = regexp.MustCompile(`^<name_[A-Za-z0-9_]+>$`)
)

// diff gives the first difference, "" for none. With subset, mappings may hold more than what is expected.
func (m *matcher) diff(want, got any, subset bool) string {
	return m.at("", want, got, subset)
}

func (m *matcher) at(path string, want, got any, subset bool) string {
	switch w := want.(type) {
	case string:
		if m.token(w, got) {
			return ""
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			v, there := g[k]
			if !there && w[k] != nil {
				return fmt.Sprintf("%s is missing", join(path, k))
			}
			if d := m.at(join(path, k), w[k], v, subset); d != "" {
				return d
			}
		}
		for _, k := range slices.Sorted(maps.Keys(g)) {
			if _, asked := w[k]; !asked && !subset {
				return fmt.Sprintf("%s is unexpected: %s", join(path, k), show(g[k]))
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		if len(w) != len(g) {
			return fmt.Sprintf("%s has %d items, not %d: %s", place(path), len(g), len(w), show(got))
		}
		for i := range w {
			if d := m.at(fmt.Sprintf("%s[%d]", path, i), w[i], g[i], subset); d != "" {
				return d
			}
		}
		return ""
	}
	if equal(want, got) {
		return ""
	}
	return fmt.Sprintf("%s is %s, not %s", place(path), show(got), show(want))
}

func (m *matcher) token(want string, got any) bool {
	text, isText := got.(string)
	switch {
	case want == "<uuid>":
		return isText && uuid4.MatchString(text)
	case want == "<any-string>":
		return isText && text != ""
	case nameToken.MatchString(want):
		if bound, ok := m.bound[want]; ok {
			return equal(bound, got)
		}
		if m.bound == nil {
			m.bound = map[string]any{}
		}
		m.bound[want] = got
		return got != nil
	}
	return false
}

// equal compares numbers by value, everything else exactly.
func equal(a, b any) bool {
	x, isX := asNumber(a)
	y, isY := asNumber(b)
	if isX && isY {
		return x == y
	}
	la, isLa := a.([]any)
	lb, isLb := b.([]any)
	if isLa && isLb {
		return slices.EqualFunc(la, lb, equal)
	}
	ma, isMa := a.(map[string]any)
	mb, isMb := b.(map[string]any)
	if isMa && isMb {
		return maps.EqualFunc(ma, mb, equal)
	}
	return reflect.DeepEqual(a, b)
}

func asNumber(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func place(path string) string {
	if path == "" {
		return "it"
	}
	return path
}

func show(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if text := string(data); len(text) <= 200 {
		return text
	}
	return strings.ToValidUTF8(string(data[:200]), "") + "…"
}
