package llm

import (
	"context"
	"encoding/json"

	"gatehouse/core"
)

// Provider is a model at a vendor (llm-provider §5).
type Provider interface {
	// Complete gives the model's answer to the messages. It changes none of them. Errors: the nine categories of
	// llm-provider §7, or the cause of a cancelled context, without one. The request is checked before anything is sent
	// (provider_invalid_request).
	Complete(ctx context.Context, r Request) (Response, error)
	// Ready reports whether Complete could succeed now: the credentials are accepted, and the model exists and is
	// loaded. Errors: provider_authentication, provider_invalid_model, provider_model_not_loaded, provider_unavailable.
	Ready(ctx context.Context) error
}

// Request is what one call of a model is made with. The zero Config and Choice are left out of what is sent.
type Request struct {
	Messages []core.Message
	Tools    []Tool
	Choice   Choice
	Config   Config

	// Stream has the vendor send the answer as it is made (llm-provider §5). The Response is the same. A vendor that
	// can't is refused before anything is sent: provider_invalid_request.
	Stream bool
	// OnToken hears the pieces of a streamed answer as they come, on the goroutine of Complete; nil: nobody does. Where
	// a call is repeated, the pieces of the next attempt follow, numbered from 0 again.
	OnToken func(Token)
	// Bare leaves out of a streamed request what not every server knows: that the stream shall say how many tokens were
	// used.
	Bare bool
	// Cache has the vendor keep what the request begins with for the next request of the same name; "": as the vendor
	// likes.
	Cache string
	// Estimate is how many tokens the request may take, as its caller estimates; 0: not known.
	Estimate int
	// Last is who gave the last answer (Response.By); "": nobody did, or it does not matter.
	Last string
}

// Tool is what a model is told of a tool. Parameters is a JSON Schema of an object.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// Choice says whether the model must call tools (llm-provider §5). The zero Choice leaves it to the vendor's default.
type Choice struct {
	Mode ChoiceMode
	Tool string // the tool that must be called, with ChooseTool
}

// ChoiceMode is a kind of Choice.
type ChoiceMode string

// The kinds. ChooseRequired and ChooseTool need tools.
const (
	ChooseAuto     ChoiceMode = "auto"
	ChooseRequired ChoiceMode = "required"
	ChooseNone     ChoiceMode = "none"
	ChooseTool     ChoiceMode = "tool"
)

// Config is how a model samples (llm-provider §6). What is nil is not sent. Extra goes to the root of the request as it
// is.
type Config struct {
	Temperature      *float64
	MaxTokens        *int64
	TopP             *float64
	Seed             *int64
	FrequencyPenalty *float64
	PresencePenalty  *float64
	StopSequences    []string
	Extra            map[string]json.RawMessage
}

// Response is a model's answer (llm-provider §6).
type Response struct {
	Message core.Message // the assistant's
	Finish  Finish
	Usage   Usage
	// it wrote calls as a text, as local models do: they are left out of the message, and are no calls
	Typed bool
	By    string          // which model of a list, at which endpoint, to which account; "": it is not told apart
	Model string          // as the vendor names it
	Raw   json.RawMessage // the vendor's whole answer, byte for byte
}

// Finish is why a model stopped (llm-provider §6).
type Finish string

// The reasons.
const (
	FinishStop    Finish = "stop"
	FinishLength  Finish = "length" // cut off: the last call may lack half of its arguments, and still be JSON
	FinishCalls   Finish = "tool_calls"
	FinishFilter  Finish = "content_filter" // a filter's cut, or the model's own refusal
	FinishUnknown Finish = "error"          // the vendor gave another reason, or an answer that is malformed in part
)

// Usage is how many tokens a call took, as far as the vendor said so in the right form; nil: it did not.
type Usage struct {
	Prompt, Completion, Total *int64

	Cached *int64 // of Prompt: what the vendor had kept from an earlier request
}
