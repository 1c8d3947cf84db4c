package settings

import (
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/openai"
)

// Model is how the agent asks models.
type Model struct {
	Names     string        `envconfig:"GATEHOUSE_MODEL" help:"The model that answers: openai:NAME or anthropic:NAME. Of several, separated by commas, the next one is asked where one can't answer."`
	MaxTokens int64         `envconfig:"GATEHOUSE_MODEL_MAX_TOKENS" default:"0" help:"How many tokens one answer may have. 0: OpenAI's own limit, or 8192 with Anthropic, which needs one."`
	Context   int           `envconfig:"GATEHOUSE_MODEL_CONTEXT" default:"100000" help:"How many tokens of a conversation a model is shown, estimated; older exchanges are left out. 0: no limit."`
	Timeout   time.Duration `envconfig:"GATEHOUSE_MODEL_TIMEOUT" default:"3m" help:"How long one answer of a model may take, with all attempts."`
	Calls     int           `envconfig:"GATEHOUSE_MODEL_CALLS" default:"512" help:"How many calls of one model may run at the same time in this process: what the vendor or your own server admits. Others wait; that counts as part of GATEHOUSE_MODEL_TIMEOUT."`
	TextOnly  bool          `envconfig:"GATEHOUSE_MODEL_TEXT_ONLY" default:"false" help:"The model takes no images: it is told that there was one."`
	Turn      int64         `envconfig:"GATEHOUSE_TOKENS_PER_TURN" default:"0" help:"How many tokens one turn may take. 0: no limit."`
	Daily     int64         `envconfig:"GATEHOUSE_TOKENS_PER_DAY" default:"0" help:"How many tokens one person may take a day, from midnight to midnight UTC. 0: no limit."`

	Chosen []ChosenModel `ignored:"true"` // what validate makes from Names
}

// ChosenModel is one of the models that GATEHOUSE_MODEL names.
type ChosenModel struct{ Vendor, Name string }

// The vendors.
const (
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// String is the model as GATEHOUSE_MODEL names it.
func (m ChosenModel) String() string { return m.Vendor + ":" + m.Name }

// validate fills Chosen, and returns all faults, one line each.
func (m *Model) validate(o openai.Config, a anthropic.Config) (faults []string) {
	m.Chosen = nil
	used := map[string]bool{}
	for _, one := range list(m.Names) {
		vendor, name, _ := strings.Cut(one, ":")
		if vendor != OpenAI && vendor != Anthropic || name == "" {
			faults = append(faults, fmt.Sprintf("GATEHOUSE_MODEL: %q is not of the form openai:NAME or anthropic:NAME", one))
			break
		}
		used[vendor] = true
		m.Chosen = append(m.Chosen, ChosenModel{vendor, name})
	}
	if used[OpenAI] {
		faults = append(faults, o.Validate()...)
	}
	if used[Anthropic] {
		faults = append(faults, a.Validate()...)
	}
	for key, n := range map[string]int64{
		"GATEHOUSE_MODEL_MAX_TOKENS": m.MaxTokens, "GATEHOUSE_MODEL_CONTEXT": int64(m.Context), "GATEHOUSE_TOKENS_PER_TURN": m.Turn, "GATEHOUSE_TOKENS_PER_DAY": m.Daily,
	} {
		if n < 0 {
			faults = append(faults, fmt.Sprintf("%s: %d must not be negative", key, n))
		}
	}
	if m.Timeout <= 0 {
		faults = append(faults, fmt.Sprintf("GATEHOUSE_MODEL_TIMEOUT: %s is too short; use a minute or more", m.Timeout))
	}
	if m.Calls < 1 {
		faults = append(faults, fmt.Sprintf("GATEHOUSE_MODEL_CALLS: %d is too low; use 1 or more", m.Calls))
	}
	return faults
}
