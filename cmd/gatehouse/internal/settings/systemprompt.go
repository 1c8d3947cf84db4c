package settings

import "gatehouse/core/llm/prompt"

// loadSystemPrompt reads the system prompt; "" = no file: the built-in prompt is used.
func loadSystemPrompt(file string) (*prompt.Prompt, error) {
	if file == "" {
		return nil, nil
	}
	p, err := prompt.ReadSystem(file)
	if err != nil {
		return nil, err
	}
	return &p, nil
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
