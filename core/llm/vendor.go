package llm

import "time"

// Vendor is a vendor of models as a value: each one's *Config is one, a pointer to a struct with the settings of its
// account. The list of vendors stands once, in the program.
type Vendor interface {
	Name() string        // what names of its models begin with: NAME:MODEL
	Own() Access         // that of the settings, with the vendor's own limit
	For(a Access) Vendor // with another access
	Validate() []string  // all faults, one line each, beginning with a setting's name
	Open(model string) (Endpoint, error)
}

// Endpoint is a provider of one model.
type Endpoint interface {
	Provider
	Origin() string // identifies the model, its server and the account
	// Sampled reports whether the model can sample so: err says why not; setting is what it is asked over another API
	// of its vendor for.
	Sampled(c Config) (setting string, err error)
}

// Access is how a model is reached.
type Access struct {
	Key, BaseURL string
	API          string // "": the vendor's own choice
	Headers      map[string]string
	Timeout      time.Duration // of one call; 0: no limit
	Silence      time.Duration // after which a call is given up if not one byte has come
	MaxTokens    int64         // of an answer; 0: no limit but the model's
	TextOnly     bool          // the model can't read images
}
