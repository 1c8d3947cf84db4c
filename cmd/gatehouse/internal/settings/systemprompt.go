package settings

import (
	"slices"
	"time"

	"gatehouse/core/llm/prompt"
)

// readSystemPrompt reads the system prompt, if a file or a folder is set.
func (c *Config) readSystemPrompt(f *faults) {
	const key = "GATEHOUSE_SYSTEM_PROMPT_FILE"
	if c.PromptFile == "" {
		return
	}
	p, err := prompt.ReadSystem(c.PromptFile, time.Now())
	if err != nil {
		f.checkFile(err, key, "the system prompt is invalid")
		return
	}
	c.SystemPrompt = &p
	usesAnthropic := slices.ContainsFunc(c.Model.Chosen, func(m ChosenModel) bool { return m.Vendor == Anthropic })
	if s := p.Sampling; s != nil && usesAnthropic {
		f.check(s.Seed == nil && s.FrequencyPenalty == nil && s.PresencePenalty == nil, key,
			"Anthropic's models, of which GATEHOUSE_MODEL names one, take no seed, frequency_penalty and presence_penalty; remove these from the prompt's sampling")
	}
}

// Unused returns a warning for every setting that is set but has no effect together with the others.
func (c Config) Unused() (all []string) {
	without := "the agent " + c.Agent + " has no model"
	switch {
	case c.PromptFile == "" || c.Agent == "llm":
	case c.Script != nil:
		all = append(all, "GATEHOUSE_SYSTEM_PROMPT_FILE is set but is not used: a script has system messages of its own")
	default:
		all = append(all, "GATEHOUSE_SYSTEM_PROMPT_FILE is set but is not used: "+without)
	}
	if c.Model.Names != "" && c.Agent != "llm" && c.Script == nil {
		all = append(all, "GATEHOUSE_MODEL is set but is not used: "+without)
	}
	return all
}
