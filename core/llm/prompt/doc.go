// Package prompt fetches prompts and renders them into messages for a model (prompt-management §§3–9, §11, §13).
//
// A Prompt is a text or a chat. A text renders to one user message. A chat is a list of segments: a message with a
// role, whose content is a text or blocks, or a placeholder, which is replaced by the caller's messages. Templates know
// one expression, {{ name }}, the value of a variable; {{ "{{" }} writes two braces. A variable without a value is an
// error, and a value is never read as a template again. Rendering is pure: equal prompts with equal values give equal
// messages and an equal hash, and a value changes only the bytes that stand for it.
//
// A Backend fetches a prompt by its name and label. A Manager asks its backends in order: one that can't be reached is
// passed over with a warning, one that has no such prompt ends the search, because that prompt may have been withdrawn.
// Where the caller names no label, Labels gives the prompt's own, then the default, then "production". The agent has
// one prompt, the system prompt: a file, or the prompt system of a folder. Managers are for who builds on this package,
// and for the conformance fixtures.
//
//	prompt.go     Prompt, Segment, Result
//	template.go   {{ name }}
//	wellformed.go what every segment must fulfil
//	render.go     Render, and what it takes
//	hash.go       the hashes of templates and of rendered messages
//	manager.go    Backend, Labels, Manager
//	static.go     a backend of prompts that do not change
//	folder.go     a folder of prompts that people write by hand
//	textfile.go   its text files     yamlfile.go, sampling.go   its YAML
//	origin.go     where a template is in its file
//	system.go     the system prompt of the agent
//	active.go     the prompt that a model's call is made with, for its span
//
// # The folder
//
// OpenFolder reads a folder once, as a whole, and keeps it in memory: there is never a set of prompts of which a part
// was left out, and no file is read while a turn runs. A changed file is seen by the next OpenFolder. A prompt is a
// folder, and each file in it is a version:
//
//	prompts/greeting/1.txt     prompt greeting, version 1
//	prompts/greeting/2.yaml    version 2
//
// A .txt or .md file is the template of a text prompt. If its first line is ---, the lines up to the next --- are YAML
// with labels and sampling:
//
//	---
//	labels: [production]
//	sampling: {temperature: 0.2, max_tokens: 500}
//	---
//	Hello, {{ user }}!
//
// A .yaml file has these keys, and template or chat_template:
//
//	labels: [staging]
//	chat_template:
//	  - {role: system, content: "You answer questions about {{ topic }}."}
//	  - {placeholder: history}
//	  - role: user
//	    content:
//	      - {type: text, text: "{{ question }}"}
//	      - {type: image, source: {type: url, url: "{{ picture }}"}}
//
// A prompt that has only one version needs no labels: that version is in production. Otherwise a version without labels
// is history, which nobody can fetch. A label is on one version of a prompt. The last line break of a text file belongs
// to the file, not to the template. Names that begin with a dot are ignored; any other file that is none of these is a
// fault. All faults are reported at once, each with its file, its place and the remedy. The prompt system may use the
// variables of SystemInput alone.
//
// # Errors
//
// The categories are prompt_not_found, prompt_store_unavailable and prompt_render_error. Each is a *core.Error inside
// an *Error, which carries the prompt's name, version and label, the variables, and a description. Values of variables
// are in no error's text. Faults of files are strictyaml.Faults.
//
// Decision (2026-11-22): a substituter of our own instead of text/template or a port of Jinja. The specification wants
// strict variables and nothing else, prompts of other systems use {{ name }} as they stand, and people who may write
// prompts get no language with loops.
//
// Decision (2026-11-22): sampling has the type of a request's configuration (llm.Config), so that it needs no
// translation (§12).
package prompt
