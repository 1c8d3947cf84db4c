package settings

import (
	"encoding/json"
	"maps"
	"time"

	"gatehouse/core"
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
	c.eachSampled(func(_ ChosenModel, _ string, err error) {
		if err != nil {
			f.check(false, key, "%s", core.MessageOf(err))
		}
	})
}

// eachSampled calls do for each model that can't be asked as it is otherwise because of the prompt's sampling: setting
// is why, or err says why it can't be asked at all.
func (c *Config) eachSampled(do func(m ChosenModel, setting string, err error)) {
	if c.SystemPrompt == nil || c.SystemPrompt.Sampling == nil {
		return
	}
	for _, m := range c.Model.Chosen {
		p, err := m.At.Open(m.Model)
		if err != nil {
			continue // its own faults are reported elsewhere
		}
		sampling := *c.SystemPrompt.Sampling
		sampling.Extra = maps.Clone(m.Extras)
		if sampling.Extra == nil {
			sampling.Extra = map[string]json.RawMessage{}
		}
		maps.Copy(sampling.Extra, c.SystemPrompt.Sampling.Extra)
		if setting, err := p.Sampled(sampling); setting != "" || err != nil {
			do(m, setting, err)
		}
	}
}

// Unused returns a warning for every setting that is set but has no effect together with the others, or another one
// than it seems.
func (c Config) Unused() (all []string) {
	without := "the agent " + c.Agent + " has no model"
	switch {
	case c.PromptFile == "" || c.Agent == "llm":
	case c.Script != nil:
		all = append(all,
			"GATEHOUSE_SYSTEM_PROMPT_FILE is set but is not used: a script has system messages of its own")
	default:
		all = append(all, "GATEHOUSE_SYSTEM_PROMPT_FILE is set but is not used: "+without)
	}
	if c.Model.Names != "" && c.Agent != "llm" && c.Script == nil {
		all = append(all, "GATEHOUSE_MODEL is set but is not used: "+without)
	}
	c.eachSampled(func(m ChosenModel, setting string, _ error) {
		all = append(all,
			"the system prompt sets "+setting+", which the Responses API lacks: "+m.Name+
				" is asked over chat completions")
	})
	return all
}
