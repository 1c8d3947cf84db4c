package settings

import "gatehouse/core/llm/prompt"

// loadSystemPrompt reads the system prompt; "" = no file, and no prompt.
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
func (c Config) Unused() []string {
	if c.PromptFile != "" && (c.Agent == "demo" || c.Agent == "echo") {
		return []string{"GATEHOUSE_SYSTEM_PROMPT_FILE is set but is not used: the agent " + c.Agent + " has no model"}
	}
	return nil
}
