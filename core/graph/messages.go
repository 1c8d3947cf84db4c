package graph

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Messages is the conversation: the field "messages", a list of messages with the reducer append (harness-chat §4). A
// schema declares it like any key: Fields(Messages, …). It is a core.History, so that neither reading its length nor
// adding to it depends on how long it is.
var Messages MessagesKey

// MessagesKey is the type of Messages.
type MessagesKey struct{}

const messagesName = "messages"

// Get gives the conversation. It reads no message.
func (MessagesKey) Get(s State) core.History {
	h, _ := s.values[messagesName].(core.History)
	return h
}

// Add appends messages.
func (MessagesKey) Add(m ...core.Message) Change {
	return Change{field: messagesName, value: slices.Clone(m)}
}

// Show replaces the epoch of the conversation.
func (MessagesKey) Show(e core.Epoch) Change {
	return Change{field: messagesName, value: e}
}

// Name is the field's name.
func (MessagesKey) Name() string { return messagesName }

func (MessagesKey) declared() field {
	return field{
		name: messagesName, history: true, initial: core.History{},
		typ: Type{
			name: "list<message>",
			zero: func() any { return core.History{} },
			check: func(v any) error {
				if _, ok := v.(core.History); !ok {
					return fmt.Errorf("must be a list of messages, not %s", kindOf(v))
				}
				return nil
			},
			decode: decodeHistory,
		},
		reducer: Reducer[any]{name: "append", merge: appendMessages, update: reflect.TypeFor[[]core.Message]()},
	}
}

func appendMessages(prior, update any) (any, error) {
	h, _ := prior.(core.History)
	if e, ok := update.(core.Epoch); ok {
		return h.WithEpoch(e), nil
	}
	m, ok := update.([]core.Message)
	if !ok {
		return nil, fmt.Errorf("the update must be a list of messages, not %s", kindOf(update))
	}
	return h.Append(m...), nil
}

// decodeHistory reads a list of messages; each must be of a valid shape.
func decodeHistory(raw json.RawMessage) (any, error) {
	v, err := strictjson.Parse(raw, strictjson.Trusted)
	if err != nil {
		return nil, err
	}
	if v.Kind != strictjson.Array {
		return nil, fmt.Errorf("must be a list of messages, not %s", v.Kind)
	}
	var h core.History
	if err := json.Unmarshal(raw, &h); err != nil {
		return nil, err
	}
	for i, m := range h.Added() {
		if err := m.Validate(); err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
	}
	return h, nil
}
