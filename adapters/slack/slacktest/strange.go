package slacktest

import (
	"encoding/json"
	"maps"

	"gatehouse/adapters/internal/fakeserver"
)

// AnswerStrangely makes all answers from now on hold what no client can know: blocks of unknown types, and fields of
// other types than today's, in every object of an answer. What was asked for keeps its form.
func (s *Server) AnswerStrangely() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strange = true
}

// strangeFields are the unknown fields, by the key of the object that they are in; "" is the answer itself.
var strangeFields = map[string]object{
	"": {
		"warning": []string{"new"}, "errors": object{"new": 1}, "needed": 7, "scheduled_message_id": 5,
	},
	"response_metadata": {"messages": object{}, "warnings": 5},
	"message":           strangeMessage,
	"messages":          strangeMessage,
	"channel":           {"topic": 5, "num_members": "many", "properties": "none"},
	"channels":          {"topic": 5, "num_members": "many", "properties": "none"},
	"user":              {"updated": object{}, "tz_offset": "east", "has_2fa": "yes"},
	"view":              {"blocks": []object{{"type": "hologram", "elements": "all"}}, "state": 3},
	"bot":               {"icons": 5, "updated": "today"},
}

var strangeMessage = object{
	"blocks": []any{
		object{"type": "hologram", "elements": "all"}, object{"type": "rich_text", "elements": object{}},
		object{"type": "actions", "elements": []object{{"type": "dial"}}}, 7,
	},
	"attachments": "none", "edited": true, "reactions": object{}, "files": 0, "user": []string{"U1"}, "thread_ts": 5,
	"reply_count": "many", "bot_profile": 1,
}

// strangely returns an answer with the unknown fields in it, if they are wanted.
func (s *Server) strangely(answer object) object {
	s.mu.Lock()
	wanted := s.strange
	s.mu.Unlock()
	if !wanted {
		return answer
	}
	var out object
	if err := json.Unmarshal(fakeserver.JSON(answer), &out); err != nil {
		panic(err) // the fake's own answer
	}
	maps.Copy(out, strangeFields[""])
	for key, fields := range strangeFields {
		switch in := out[key].(type) {
		case object:
			maps.Copy(in, fields)
		case []any:
			for _, item := range in {
				if one, ok := item.(object); ok {
					maps.Copy(one, fields)
				}
			}
		}
	}
	return out
}
