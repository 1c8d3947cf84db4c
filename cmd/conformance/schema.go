package main

import (
	"encoding/json"
	"strings"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// plainTypes are the types without parameters.
var plainTypes = map[string]graph.Type{
	"string": graph.StringType(), "str": graph.StringType(), "int": graph.IntType(), "integer": graph.IntType(),
	"float": graph.FloatType(), "number": graph.FloatType(), "bool": graph.BoolType(), "boolean": graph.BoolType(),
	"any": graph.AnyType(), "chatmessage": graph.AnyType(), "list": graph.ListType(graph.AnyType()),
	"dict": graph.DictType(graph.AnyType()), "map": graph.DictType(graph.AnyType()),
	"object": graph.DictType(graph.AnyType()),
}

// fieldType reads a type of the fixture language, in either style of brackets.
func fieldType(d *fixture.Node, name string) graph.Type {
	name = strings.TrimSpace(strings.NewReplacer("[", "<", "]", ">").Replace(name))
	if t, ok := plainTypes[strings.ToLower(name)]; ok {
		return t
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
	d.Malformed("unknown type %q", name)
	return graph.Type{}
}

// declare reads one field of state.fields. A second reducer declares the field a second time, as a program would.
func declare(name string, d *fixture.Node) []graph.Declared {
	typ := d.Need("type").Text()
	reducer := d.Get("reducer")
	initial := d.Get("default")
	if isConversation(name, typ, reducer) {
		if initial != nil && len(initial.Items()) > 0 {
			initial.Malformed("a conversation starts empty")
		}
		return []graph.Declared{graph.Messages}
	}
	one := func(reducer *fixture.Node) graph.Declared {
		k := graph.Typed(name, fieldType(d, typ), reducerOf(reducer))
		if initial != nil {
			k = k.Default(initial.Value())
		}
		return k
	}
	out := []graph.Declared{one(reducer)}
	if alt := d.Get("alt_reducer"); alt != nil {
		out = append(out, one(alt))
	}
	return out
}

func isConversation(name, typ string, reducer *fixture.Node) bool {
	return name == graph.Messages.Name() && strings.Contains(strings.ToLower(typ), "chatmessage") &&
		reducer != nil && !reducer.IsMapping() && reducer.Text() == "append"
}

// reducerOf reads a reducer: a name, or a factory with its arguments, as in {bounded_append: {max_len: 3}}.
func reducerOf(d *fixture.Node) graph.Reducer[any] {
	if d == nil {
		return graph.Replace[any]()
	}
	name, args := "", (*fixture.Node)(nil)
	if !d.IsMapping() {
		name = d.Text()
	} else {
		if len(d.Keys()) != 1 {
			d.Malformed("must be one factory")
		}
		d.All(func(key string, v *fixture.Node) { name, args = key, v })
	}
	var key func(any) (any, error) // an argument of the wrong kind is dropped, so that the factory refuses it
	keyed := args.Get("key")
	if name, ok := keyed.Value().(string); ok {
		key = graph.KeyField(name)
	}
	maxLen, _ := args.Get("max_len").Value().(int64)
	factory, known := map[string]func() graph.Reducer[any]{
		"last_write_wins": graph.Replace[any],
		"append":          func() graph.Reducer[any] { return graph.Untyped(graph.Append[any]()) },
		"merge":           func() graph.Reducer[any] { return graph.Untyped(graph.Merge[string, any]()) },
		"concat_flatten":  func() graph.Reducer[any] { return graph.Untyped(graph.ConcatFlatten[any]()) },
		"merge_all":       func() graph.Reducer[any] { return graph.Untyped(graph.MergeAll[string, any]()) },
		"bounded_append":  func() graph.Reducer[any] { return graph.Untyped(graph.BoundedAppend[any](int(maxLen))) },
		"merge_by_key":    func() graph.Reducer[any] { return graph.Untyped(graph.MergeByKey(key)) },
		"dedupe_append": func() graph.Reducer[any] {
			if keyed.IsNull() {
				return graph.Untyped(graph.DedupeAppend[any]())
			}
			return graph.Untyped(graph.DedupeAppendBy(key))
		},
	}[name]
	if !known {
		d.Malformed("unknown reducer %q", name)
	}
	return factory()
}

// update makes a partial update from a mapping. In a conversation, messages go through graph.Messages in any form: a
// malformed one must reach the code under test.
func update(conversation bool, d *fixture.Node) graph.Update {
	var u graph.Update
	fields := d.Fields()
	for _, name := range d.Keys() {
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
		panic(fixture.Fault{Text: "fixture_schema_invalid: a message: " + err.Error()})
	}
	return m
}
