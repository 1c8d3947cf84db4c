package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// Model is how the agent asks models.
type Model struct {
	Names     string        `envconfig:"GATEHOUSE_MODEL"`
	File      string        `envconfig:"GATEHOUSE_MODELS"`
	MaxTokens int64         `envconfig:"GATEHOUSE_MODEL_MAX_TOKENS" default:"0"`
	Context   int           `envconfig:"GATEHOUSE_MODEL_CONTEXT" default:"100000"`
	Timeout   time.Duration `envconfig:"GATEHOUSE_MODEL_TIMEOUT" default:"0s"`
	Silence   time.Duration `envconfig:"GATEHOUSE_MODEL_SILENCE" default:"10m"`
	RetryTime time.Duration `envconfig:"GATEHOUSE_RETRY_TIME" default:"2m"`
	Calls     int           `envconfig:"GATEHOUSE_MODEL_CALLS" default:"512"`
	TextOnly  bool          `envconfig:"GATEHOUSE_MODEL_TEXT_ONLY" default:"false"`
	Turn      int64         `envconfig:"GATEHOUSE_TOKENS_PER_TURN" default:"0"`
	Daily     int64         `envconfig:"GATEHOUSE_TOKENS_PER_DAY" default:"0"`

	Chosen []ChosenModel `ignored:"true"` // what validate makes from Names
}

// ChosenModel is one of the models that GATEHOUSE_MODEL names.
type ChosenModel struct {
	Name          string // as GATEHOUSE_MODEL names it
	Vendor, Model string

	llm.Access
	At      llm.Vendor // with Access
	Stream  bool
	Context int
	Extras  map[string]json.RawMessage
	Price   Price
}

// Price is what a million tokens cost, in the currency of the vendor's bill.
type Price struct{ In, Cached, Out float64 }

// String is the model as GATEHOUSE_MODEL names it.
func (m ChosenModel) String() string { return m.Name }

// Open makes the model's provider; origin identifies the model, its server and the account.
func (m ChosenModel) Open() (p llm.Provider, origin string, err error) {
	at, err := m.At.Open(m.Model)
	if err != nil {
		return nil, "", err
	}
	defaults := llm.Config{Extra: m.Extras}
	if m.MaxTokens > 0 {
		defaults.MaxTokens = &m.MaxTokens
	}
	return llm.WithDefaults(at, defaults), at.Origin(), nil
}

// validate fills Chosen, and returns all faults, one line each.
func (m *Model) validate(vendors []llm.Vendor) (faults []string) {
	faults = append(faults, m.choose(vendors)...)
	seen := map[string]bool{}
	for _, one := range m.Chosen {
		for _, fault := range one.At.Validate() {
			if fault = one.named(fault); !seen[fault] {
				seen[fault] = true
				faults = append(faults, fault)
			}
		}
		m.limit(one)
	}
	for key, n := range map[string]int64{
		"GATEHOUSE_MODEL_MAX_TOKENS": m.MaxTokens, "GATEHOUSE_MODEL_CONTEXT": int64(m.Context),
		"GATEHOUSE_TOKENS_PER_TURN": m.Turn, "GATEHOUSE_TOKENS_PER_DAY": m.Daily,
		"GATEHOUSE_MODEL_TIMEOUT": int64(m.Timeout),
	} {
		if n < 0 {
			faults = append(faults, fmt.Sprintf("%s: %d must not be negative", key, n))
		}
	}
	if m.RetryTime < 0 {
		faults = append(faults, fmt.Sprintf("GATEHOUSE_RETRY_TIME: %s must not be negative", m.RetryTime))
	}
	if m.Silence < time.Second {
		faults = append(faults,
			fmt.Sprintf("GATEHOUSE_MODEL_SILENCE: %s is too short; use a minute or more", m.Silence))
	}
	if m.Calls < 1 {
		faults = append(faults, fmt.Sprintf("GATEHOUSE_MODEL_CALLS: %d is too low; use 1 or more", m.Calls))
	}
	return faults
}

// limit has what a model can take limit what all of them are shown: each may be asked in another's place.
func (m *Model) limit(one ChosenModel) {
	if one.Context > 0 && (m.Context == 0 || one.Context < m.Context) {
		m.Context = one.Context
	}
	m.TextOnly = m.TextOnly || one.TextOnly
}

// choose finds the models that Names names: those of the environment's keys, and those of the file.
func (m *Model) choose(vendors []llm.Vendor) (faults []string) {
	m.Chosen = nil
	var names, forms []string
	for _, v := range vendors {
		names, forms = append(names, v.Name()), append(forms, v.Name()+":NAME")
	}
	file, err := loadModels(m.File, names)
	if err != nil {
		return []string{
			"GATEHOUSE_MODELS: the models are invalid:\n    " + strings.ReplaceAll(err.Error(), "\n", "\n    "),
		}
	}
	for _, name := range list(m.Names) {
		one, inFile := file[name]
		if !inFile {
			one.Vendor, one.Model, _ = strings.Cut(name, ":")
			one.Stream = true
		}
		i := slices.Index(names, one.Vendor)
		if i < 0 || one.Model == "" {
			return []string{fmt.Sprintf(
				"GATEHOUSE_MODEL: %q is neither of the form %s nor the name of a model in GATEHOUSE_MODELS", name,
				core.Either(forms))}
		}
		own := vendors[i].Own()
		if !inFile {
			one.Access = own
		}
		one.Name, one.TextOnly = name, one.TextOnly || m.TextOnly
		one.Timeout, one.Silence, one.MaxTokens = m.Timeout, m.Silence,
			cmp.Or(m.MaxTokens, one.MaxTokens, own.MaxTokens)
		one.At = vendors[i].For(one.Access)
		m.Chosen = append(m.Chosen, one)
	}
	return nil
}

// named is a fault of a vendor's settings with the name of the model, if that is of the file and has keys of its own
// there.
func (m ChosenModel) named(fault string) string {
	if strings.HasPrefix(m.Name, m.Vendor+":") {
		return fault
	}
	_, what, _ := strings.Cut(fault, "_")
	key, why, _ := strings.Cut(what, ": ")
	return fmt.Sprintf("GATEHOUSE_MODELS: the %s of the model %s: %s", strings.ToLower(key), m.Name, why)
}
