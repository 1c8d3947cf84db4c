package main

import (
	"encoding/json"
	"strings"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// fieldType reads a type of the fixture language, in either style of brackets.
func fieldType(d *doc, name string) graph.Type {
	name = strings.TrimSpace(strings.NewReplacer("[", "<", "]", ">").Replace(name))
	switch strings.ToLower(name) {
	case "string", "str":
		return graph.StringType()
	case "int", "integer":
		return graph.IntType()
	case "float", "number":
		return graph.FloatType()
	case "bool", "boolean":
		return graph.BoolType()
	case "any", "chatmessage":
		return graph.AnyType()
	case "list":
		return graph.ListType(graph.AnyType())
	case "dict", "map", "object":
		return graph.DictType(graph.AnyType())
	}
	outer, inner, ok := strings.Cut(strings.TrimSuffix(name, ">"), "<")
	if ok && strings.HasSuffix(name, ">") {
		switch strings.ToLower(outer) {
		case "list":
			return graph.ListType(fieldType(d, inner))
		case "dict", "map":
			_, value, two := strings.Cut(inner, ",")
			if two {
				return graph.DictType(fieldType(d, value))
			}
		}
	}
	d.malformed("unknown type %q", name)
	return graph.Type{}
}

// declare reads one field of state.fields. A second reducer declares the field a second time, as a program would.
func declare(name string, d *doc) []graph.Declared {
	typ := d.need("type").text()
	reducer := d.get("reducer")
	initial := d.get("default")
	if isConversation(name, typ, reducer) {
		if initial != nil && len(initial.items()) > 0 {
			initial.malformed("a conversation begins empty")
		}
		return []graph.Declared{graph.Messages}
	}
	one := func(reducer *doc) graph.Declared {
		k := graph.Typed(name, fieldType(d, typ), reducerOf(reducer))
		if initial != nil {
			k = k.Default(initial.value())
		}
		return k
	}
	out := []graph.Declared{one(reducer)}
	if alt := d.get("alt_reducer"); alt != nil {
		out = append(out, one(alt))
	}
	return out
}

func isConversation(name, typ string, reducer *doc) bool {
	return name == graph.Messages.Name() && strings.Contains(strings.ToLower(typ), "chatmessage") &&
		reducer != nil && !reducer.isMapping() && reducer.text() == "append"
}

// reducerOf reads a reducer: a name, or a factory with its arguments, as in {bounded_append: {max_len: 3}}.
func reducerOf(d *doc) graph.Reducer[any] {
	if d == nil {
		return graph.Replace[any]()
	}
	name, args := "", (*doc)(nil)
	if !d.isMapping() {
		name = d.text()
	} else {
		if len(keysOf(d)) != 1 {
			d.malformed("must be one factory")
		}
		d.all(func(key string, v *doc) { name, args = key, v })
	}
	var key func(any) (any, error) // an argument of the wrong kind is none: the factory is to refuse it
	keyed := args.get("key")
	if name, ok := keyed.value().(string); ok {
		key = graph.KeyField(name)
	}
	maxLen, _ := args.get("max_len").value().(int64)
	switch name {
	case "last_write_wins":
		return graph.Replace[any]()
	case "append":
		return graph.AppendAny()
	case "merge":
		return graph.MergeAny()
	case "concat_flatten":
		return graph.ConcatFlattenAny()
	case "merge_all":
		return graph.MergeAllAny()
	case "bounded_append":
		return graph.BoundedAppendAny(int(maxLen))
	case "dedupe_append":
		if keyed.isNull() {
			return graph.DedupeAppendAny()
		}
		return graph.DedupeAppendByAny(key)
	case "merge_by_key":
		return graph.MergeByKeyAny(key)
	}
	d.malformed("unknown reducer %q", name)
	return graph.Reducer[any]{}
}

// update makes a partial update of a mapping. Messages go through graph.Messages, in whatever form they are written: a malformed
// one must reach the code under test.
func (w *world) update(fields map[string]any, order []string) graph.Update {
	return update(w.conversation, fields, order)
}

func update(conversation bool, fields map[string]any, order []string) graph.Update {
	var u graph.Update
	for _, name := range order {
		if list, ok := fields[name].([]any); ok && conversation && name == graph.Messages.Name() {
			u = append(u, graph.Messages.Add(messagesOf(list)...))
			continue
		}
		u = append(u, graph.Set(name, fields[name]))
	}
	return u
}

func messagesOf(list []any) []core.Message {
	out := make([]core.Message, len(list))
	for i, v := range list {
		out[i] = messageOf(v)
	}
	return out
}

// messageOf decodes a message without checking it.
func messageOf(v any) core.Message {
	var m core.Message
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		panic(schemaFault{"fixture_schema_invalid: a message: " + err.Error()})
	}
	return m
}

// keysOf are a mapping's keys in the order of the file.
func keysOf(d *doc) []string {
	var out []string
	if d.isMapping() {
		d.each(func(key string, _ *doc) bool { out = append(out, key); return false })
	}
	return out
}
