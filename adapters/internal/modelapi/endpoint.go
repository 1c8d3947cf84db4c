package modelapi

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"gatehouse/core"
)

// Config says where a model is, and how it may be asked.
type Config struct {
	Settings string // what the names of the vendor's settings begin with: OPENAI, of OPENAI_API_KEY
	Key      string // "": none is sent
	NeedsKey bool   // the vendor's API takes no call without one
	BaseURL  string // "": Default
	Default  string // the vendor's own address

	Timeout     time.Duration     // of one call; 0: ten minutes
	MaxResponse int64             // of one answer, in bytes; 0: 8 MiB
	TextOnly    bool              // the model can't read images
	Transport   http.RoundTripper // nil: Go's, with room for many calls at a time
}

const (
	defaultTimeout     = 10 * time.Minute
	defaultMaxResponse = 8 << 20
	idleConnections    = 64 // of one host; a turn holds none while it waits for a person
)

// Faults returns what is wrong with the settings, one line each, which begins with the setting's name. None contains the key.
func (c Config) Faults() (faults []string) {
	switch {
	case c.NeedsKey && c.Key == "":
		faults = append(faults, c.Settings+"_API_KEY: it is missing")
	case strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		faults = append(faults, c.Settings+"_API_KEY: there is a space, a line break or a foreign character in it; copy the key again")
	}
	u, err := url.Parse(c.BaseURL)
	if c.BaseURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "") {
		faults = append(faults, c.Settings+"_BASE_URL: it is not an address such as "+c.Default+", without a user or a query")
	}
	return faults
}

// Endpoint is one model at one address.
type Endpoint struct {
	Model string
	Place string // the host, as errors name it
	Config
}

// New makes the Endpoint of a model, with what the configuration leaves open filled in. It calls nothing. The error lists all faults, of category
// invalid.
func New(model string, c Config) (*Endpoint, error) {
	faults := c.Faults()
	if model == "" {
		faults = append(faults, "the model has no name")
	}
	if len(faults) > 0 {
		return nil, core.Errorf(core.Invalid, "%s", strings.Join(faults, "; "))
	}
	if c.BaseURL == "" {
		c.BaseURL = c.Default
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "The address of the model can't be read.")
	}
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxResponse <= 0 {
		c.MaxResponse = defaultMaxResponse
	}
	if c.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = idleConnections
		c.Transport = transport
	}
	return &Endpoint{Model: model, Place: u.Host, Config: c}, nil
}

// HTTPClient is the client that the vendor's SDK sends with.
func (e *Endpoint) HTTPClient() *http.Client {
	return &http.Client{
		Transport:     e.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
