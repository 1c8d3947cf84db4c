// Package openai is a model behind OpenAI's chat completions API, or behind any API that follows it (Ollama, vLLM, llama.cpp, LM Studio), by its
// base URL (llm-provider §8.1). It uses OpenAI's Go SDK for the types of what is sent, the transport and the credentials. The SDK's own
// retries are off: llm.Retry repeats. How a call is made, its limits and its errors are those of every vendor (adapters/internal/modelapi).
//
// What is sent. The request is built of the SDK's types and then written in one canonical form (llm.Canonical): equal requests are equal
// bytes. Names of tools go through llm.Names, since the API admits no dot, and their descriptions are cut at 1024 characters, which some servers of it require. The arguments of calls are sent as the text of a canonical JSON
// object; those that the model had written badly as {}. Blocks of thinking, and signatures, belong to other vendors and are left out; one that
// has nothing else keeps its place with an empty text. What is not set is not sent. A choice of auto or none without tools is not sent
// either: the API refuses it, and it changes nothing.
//
// Extra settings go to the root of the body. The fields that the request itself sets are managed (llm-provider §6): model, messages, stream,
// and tools, tool_choice and each setting of Config while they are set. An extra value for one must be equal, or the request is refused before
// it is sent; extra texts for stop are added to the stop sequences. Models that want max_completion_tokens instead of max_tokens get it as
// an extra setting.
//
// What comes back. The answer is read as it is, at most Config.MaxResponse bytes of it, and kept in Response.Raw. A usage counter that is no
// whole number is not reported. A finish reason that is unknown is FinishUnknown. Arguments that could not be read are null. From a model that
// says it was done, such a call is provider_invalid_response with llm.BadCalls, and so, without it, is one that names no tool, and an answer with
// nothing to read in it. Servers that follow the API loosely are read where it is clear what they mean: a call without an id gets one, arguments
// may be an object instead of its text, or missing, and content may be a list of texts. Whether the arguments fit the tool is not examined here:
// the executor does, and tells the model.
package openai
