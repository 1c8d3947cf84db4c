// Package openai is a model behind OpenAI's APIs, or behind any API that follows its chat completions (Ollama, vLLM,
// llama.cpp, LM Studio), by its base URL (llm-provider §8.1). How a call is made, its limits and its errors are those
// of every vendor (adapters/internal/modelapi).
//
// Two APIs. At OpenAI and Azure calls go over the Responses API, since current models take no tools on chat
// completions; elsewhere over chat completions, unless the server refuses tools there and names the other one. A
// model's name says what it takes (family): there is no list of models. Over Responses the service stores nothing: all
// goes each time, with the encrypted reasoning that came with it.
//
// What is sent. Requests are written in one canonical form (llm.Canonical): equal requests are equal bytes. Names of
// tools go through llm.Names, since the API admits no dot, and their descriptions are cut at 1024 characters, which
// some servers of it require. The arguments of calls are sent as the text of a canonical JSON object; those that the
// model had written badly as it wrote them, to itself alone. Thinking of other vendors is left out; what the server
// itself sent with a message goes back with it (core.Kept). What is not set is not sent. A choice of auto or none
// without tools is not sent either: the API refuses it, and it changes nothing.
//
// Extra settings go to the root of the body. The fields that the request itself sets are managed (llm-provider §6):
// model, messages, stream, and tools, tool_choice and each setting of Config while they are set. An extra value for one
// must be equal, or the request is refused before it is sent; extra texts for stop are added to the stop sequences.
//
// What comes back. The answer is read as it is, at most Config.MaxResponse bytes of it, and kept in Response.Raw. A
// usage counter that is no whole number is not reported. A finish reason that is unknown is FinishUnknown. Arguments
// that could not be read are null. From a model that says it was done, such a call is provider_invalid_response with
// llm.BadCalls, and so, without it, is one that names no tool, and an answer with nothing to read in it. Servers that
// follow the API loosely are read where it is clear what they mean: a call without an id gets one, arguments may be an
// object instead of its text, or missing, and content may be a list of texts. Thinking and calls that a local model's
// server leaves in a text are taken out of it (modelapi.Say). Whether the arguments fit the tool is not examined here:
// the executor does, and tells the model.
package openai
