package slacktest

import (
	"encoding/json"
	"maps"

	"gatehouse/adapters/slack/slacktest/internal/blockkit"
)

// Submits fills in the modal on top of the person's screen and submits it. Fields are named by action_id or block_id.
// The app's answer is applied: the modal closes, shows errors, or becomes another one.
func (p *Person) Submits(fields map[string]string, options ...ActionOption) *Delivery {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	v, h := s.mustModal(p.ID), actionOptions{}.with(options)
	payload := s.interaction("view_submission", p.ID, h)
	wire := s.wireView(v)
	wire["state"] = object{"values": v.filledIn(s, fields)}
	trigger := s.newTrigger(p.ID)
	payload["view"], payload["trigger_id"], payload["response_urls"] = wire, trigger, []any{}
	d := s.interact(payload, "view_submission", h)
	d.TriggerID = trigger
	d.answerFor = func(answer []byte) { s.submissionAnswered(v, answer) }
	s.dispatch("", []*Delivery{d})
	return d
}

// Dismisses closes the modal on top of the person's screen. The app receives an event only if the modal requested it;
// otherwise the result is nil.
func (p *Person) Dismisses(options ...ActionOption) *Delivery {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	v, h := s.mustModal(p.ID), actionOptions{}.with(options)
	v.open = false
	s.changed()
	if notify, _ := v.fields["notify_on_close"].(bool); !notify {
		return nil
	}
	payload := s.interaction("view_closed", p.ID, h)
	payload["view"], payload["is_cleared"] = s.wireView(v), false
	d := s.interact(payload, "view_closed", h)
	s.dispatch("", []*Delivery{d})
	return d
}

func (s *Server) mustModal(user string) *view {
	stack := s.stackOf(user)
	if len(stack) == 0 {
		s.fatal("%s has no modal open", user)
	}
	return stack[len(stack)-1]
}

// filledIn returns the state of the inputs: the typed text, and null for the others.
func (v *view) filledIn(s *Server, fields map[string]string) object {
	values, left := object{}, maps.Clone(fields)
	blocks, _ := v.fields["blocks"].([]Block)
	for _, b := range blocks {
		if b["type"] != "input" {
			continue
		}
		e := blockkit.AsBlock(b["element"])
		block, _ := b["block_id"].(string)
		action, _ := e["action_id"].(string)
		typed, given := left[action]
		delete(left, action)
		if !given {
			typed, given = left[block]
			delete(left, block)
		}
		values[block] = object{action: inputState(e, typed, given)}
	}
	for name := range left {
		s.fatal("the modal has no field %q", name)
	}
	return values
}

// inputState returns the state of one input, in the form of its type.
func inputState(e Block, typed string, given bool) object {
	var value any
	if given {
		value = typed
	} else {
		value = e["initial_value"]
	}
	state := object{"type": e["type"]}
	switch e["type"] {
	case "static_select", "radio_buttons":
		state["selected_option"] = e["initial_option"]
		options, _ := e["options"].([]any)
		for _, option := range options {
			if o := blockkit.AsBlock(option); given && (o["value"] == typed || blockkit.TextOf(o["text"]) == typed) {
				state["selected_option"] = o
			}
		}
	default:
		state["value"] = value
	}
	return state
}

// submissionAnswered applies the app's answer to a submission. The caller holds the lock.
func (s *Server) submissionAnswered(v *view, body []byte) {
	var answer struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   json.RawMessage   `json:"view"`
	}
	_ = json.Unmarshal(body, &answer)
	switch answer.Action {
	case "errors":
		v.errors = answer.Errors
	case "update":
		fields, failed := s.readView(string(answer.View))
		if failed != nil {
			v.errors = map[string]string{"": failed.code}
			break
		}
		v.replace(s, fields)
	case "":
		v.open = false
	default:
		v.errors = map[string]string{"": "the fake Slack knows no response_action " + answer.Action}
	}
	s.changed()
}

// commandAnswered shows the app's answer to a slash command. The caller holds the lock.
func (s *Server) commandAnswered(c *channel, user string, body []byte) {
	if len(body) == 0 || string(body) == "null" {
		return
	}
	args := Args{}
	if args.addJSON(body) != nil {
		args["text"] = string(body)
	}
	in, failed := s.readContent(args)
	if failed != nil || in.empty() {
		return
	}
	s.addEphemeral(c, in, user, "")
}
