package openai

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// finishes are the finish reasons of the API; function_call is from before tools.
var finishes = map[string]llm.Finish{"stop": llm.FinishStop, "length": llm.FinishLength, "tool_calls": llm.FinishCalls,
	"function_call": llm.FinishCalls, "content_filter": llm.FinishFilter}

// cutFinishes are other servers' words, in lower case, for an answer that is not whole: the last call of one that was
// cut could still be read.
var cutFinishes = map[string]llm.Finish{
	"length": llm.FinishLength, "max_tokens": llm.FinishLength, "max_output_tokens": llm.FinishLength,
	"model_length": llm.FinishLength, "model_context_window_exceeded": llm.FinishLength,
	"content_filter": llm.FinishFilter, "safety": llm.FinishFilter, "refusal": llm.FinishFilter,
	"sensitive": llm.FinishFilter,
}

// failures are other servers' words, in lower case, for an answer that broke off.
var failures = []string{"error", "network_error", "insufficient_system_resource", "abort"}

// finishOf reads a finish reason. Some servers say more behind a colon.
func finishOf(choice *strictjson.Value) llm.Finish {
	reason := modelapi.Text(choice, "finish_reason")
	word, _, _ := strings.Cut(strings.ToLower(reason), ":")
	return cmp.Or(finishes[reason], cutFinishes[word], llm.FinishUnknown)
}

// read makes a Response of a successful answer.
func (p *Provider) read(a modelapi.Answer, names llm.Names) (llm.Response, error) {
	v, err := p.api.Parse(a)
	if err != nil {
		return llm.Response{}, err
	}
	v = modelapi.Unlisted(v)
	choices := itemsOf(v, "choices")
	if fault := faultIn(v, choices); fault != nil {
		inside := streamError(fault)
		a.Status, a.Body = inside.Status, inside.Body
		return llm.Response{}, p.refusal(p.api.Complaint(a), false)
	}
	if len(choices) == 0 {
		return llm.Response{}, p.api.Malformed("it has no choices")
	}
	if modelapi.IsMisspoken(modelapi.Text(choices[0], "finish_reason")) {
		return llm.Response{},
			p.api.Misspoken(modelapi.Complaint{Status: a.Status, Message: modelapi.Text(choices[0], "finish_reason")})
	}
	message := choices[0].Get("message")
	if message == nil || message.Kind != strictjson.Object {
		return llm.Response{}, p.api.Malformed("its choice has no message")
	}
	r := llm.Response{
		Model:  cmp.Or(modelapi.Text(v, "model"), p.api.Model),
		Finish: finishOf(choices[0]),
		Usage:  readUsage(v.Get("usage")),
		Raw:    json.RawMessage(a.Body),
	}
	if err = p.readMessage(&r, message, names, a.Body); err != nil {
		return r, err
	}
	return p.api.Checked(r)
}

// faultIn is the error inside a successful answer, or a part of one; nil: there is none. Gateways send some in place of
// the choices, beside them, or inside one.
func faultIn(v *strictjson.Value, choices []*strictjson.Value) *strictjson.Value {
	fault := v.Get("error")
	switch {
	case v.Kind == strictjson.String:
		return v
	case len(choices) > 0:
		return brokenOff(choices[0], fault)
	case v.Kind != strictjson.Object:
		return nil
	case fault == nil && v.Get("message") != nil:
		return v
	case filled(fault):
		return fault
	case modelapi.Text(v.Get("base_resp"), "status_msg") != "": // MiniMax's
		return v.Get("base_resp")
	}
	return nil
}

// brokenOff is the error of a choice that broke off or says nothing: its own, or the one beside it, or else the word
// for why it ended. Calls that end with "error" are the caller's to judge (llm-provider §6).
func brokenOff(choice, beside *strictjson.Value) *strictjson.Value {
	word := strings.ToLower(modelapi.Text(choice, "finish_reason"))
	said, _ := readText(choice.Get("message").Get("content"))
	calls := len(itemsOf(choice.Get("message"), "tool_calls")) > 0
	broke := slices.Contains(failures, word)
	for _, fault := range []*strictjson.Value{choice.Get("error"), beside} {
		if filled(fault) && (broke || said == "" && !calls) {
			return fault
		}
	}
	if broke && choice.Get("message") != nil && (!calls || word != "error") { // a piece of a stream has none
		return choice.Get("finish_reason")
	}
	return nil
}

// filled reports whether there is something in a text, or an object.
func filled(v *strictjson.Value) bool { return v != nil && (len(v.Members) > 0 || v.String != "") }

// streamError is an error of the vendor's that came with a good status.
func streamError(fault *strictjson.Value) *modelapi.StreamError {
	body, _ := json.Marshal(object{"error": fault.Any()}) // it was JSON
	return &modelapi.StreamError{Status: modelapi.StatusIn(fault), Body: body}
}

func (p *Provider) readMessage(r *llm.Response, v *strictjson.Value, names llm.Names, raw []byte) error {
	m := &r.Message
	m.Role = core.Assistant
	var blocks []core.Block
	for _, key := range []string{"reasoning_content", "reasoning"} { // servers have one of the two names for it
		if text := modelapi.Text(v, key); text != "" && len(blocks) == 0 {
			blocks = append(blocks, core.Block{Type: core.ThinkingBlock, Text: text})
		}
	}
	said := ""
	for _, key := range []string{"content", "refusal"} { // a model that refuses says so in place of its content
		text, ok := readText(v.Get(key))
		if !ok {
			return p.api.Malformed("its %s is %s", key, v.Get(key).Kind)
		}
		said = cmp.Or(said, text)
	}
	tags := modelapi.Said{Text: said}
	if !p.own {
		tags = modelapi.Say(said, names.Known)
	}
	r.Typed = tags.Typed
	written := ""
	if tags.Thinking != "" && !tags.Typed {
		written = said
	}
	if tags.Thinking != "" {
		blocks = append(blocks, core.Block{Type: core.ThinkingBlock, Text: tags.Thinking})
	}
	if tags.Text != "" {
		blocks = append(blocks, core.Block{Type: core.TextBlock, Text: tags.Text})
	}
	m.Content = modelapi.Content(blocks)
	calls := v.Get("tool_calls")
	if calls != nil && calls.Kind != strictjson.Array && filled(calls) {
		return p.api.Malformed("its tool_calls are %s", calls.Kind)
	}
	for i, item := range itemsOf(v, "tool_calls") {
		call := readCall(item, names, raw)
		if call.ID == "" { // some servers give none; the view of a conversation tells equal ones apart
			call.ID = "call_" + strconv.Itoa(i+1)
		}
		m.ToolCalls = append(m.ToolCalls, call)
	}
	m.Kept = keep(v, m.ToolCalls, written)
	return nil
}

// readText reads a text. Some servers give the parts of one.
func readText(v *strictjson.Value) (text string, ok bool) {
	if v == nil || v.Kind == strictjson.Null {
		return "", true
	}
	for _, part := range v.Items {
		switch modelapi.Text(part, "type") {
		case "text", "output_text", "":
			text += modelapi.Text(part, "text") + part.String
		}
	}
	return text + v.String, v.Kind == strictjson.String || v.Kind == strictjson.Array
}

// readCall reads what there is of a call. Arguments that are not the text of an object are null. Some servers write an
// object itself, and where there are no arguments an empty text or nothing.
func readCall(v *strictjson.Value, names llm.Names, raw []byte) core.ToolCall {
	function := v.Get("function")
	text := ""
	if written := function.Get("arguments"); written != nil && written.Kind == strictjson.String {
		text = written.String
	} else if written != nil {
		text = string(written.Raw(raw))
	}
	return core.ToolCall{
		ID: modelapi.Text(v, "id"), Name: names.Ours(modelapi.Text(function, "name")),
		Arguments: modelapi.ReadArguments(text),
	}
}

func readUsage(v *strictjson.Value) llm.Usage {
	cached := modelapi.Counter(v.Get("prompt_tokens_details"), "cached_tokens")
	return llm.Usage{
		Prompt:     modelapi.Counter(v, "prompt_tokens"),
		Completion: modelapi.Counter(v, "completion_tokens"),
		Total:      modelapi.Counter(v, "total_tokens"),
		Cached:     cmp.Or(cached, modelapi.Counter(v, "prompt_cache_hit_tokens")), // DeepSeek's
	}
}
