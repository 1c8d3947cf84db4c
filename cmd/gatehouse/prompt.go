package main

import (
	"cmp"
	_ "embed"
	"os"
	"strings"
	"time"

	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core/llm/prompt"
)

// builtInPrompt is the system prompt where none is configured. It tells the model what it can't see: where it talks,
// and what happens to its calls.
var builtInPrompt = builtIn(strings.TrimSpace(builtInText))

//go:embed systemprompt.txt
var builtInText string

func builtIn(template string) prompt.Prompt {
	p := prompt.Prompt{Name: "system", Label: prompt.DefaultLabel, Version: "built-in", Template: template}
	p.TemplateHash = prompt.HashTemplate(p)
	return p
}

// systemPrompt is the configured system prompt, or the one that is built in.
func systemPrompt(cfg settings.Config) *prompt.Prompt {
	return cmp.Or(cfg.SystemPrompt, &builtInPrompt)
}

// zone is the time zone that TZ names, in which the days of conversations begin; UTC if it names none.
func zone() *time.Location {
	if named, err := time.LoadLocation(os.Getenv("TZ")); err == nil {
		return named
	}
	return time.UTC
}
