package modelapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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

	Headers     map[string]string // of each call, the credentials among them
	Timeout     time.Duration     // of one call, its whole answer included; 0: no limit
	Silence     time.Duration     // after which a call is given up if not one byte has come; 0: ten minutes
	MaxResponse int64             // of one answer, in bytes; 0: 8 MiB
	TextOnly    bool              // the model can't read images
	Transport   http.RoundTripper // nil: Go's, with room for many calls at a time
}

const (
	defaultSilence     = 10 * time.Minute
	defaultMaxResponse = 8 << 20
	idleConnections    = 64 // of one host; a turn holds none while it waits for a person
)

// Faults returns what is wrong with the settings, one line each, which begins with the setting's name. None contains
// the key.
func (c Config) Faults() (faults []string) {
	switch {
	case c.NeedsKey && c.Key == "":
		faults = append(faults, c.Settings+"_API_KEY: it is missing")
	case strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		faults = append(faults, c.Settings+"_API_KEY: there is a space, a line break or a foreign character in it; "+
			"copy the key again")
	}
	u, err := url.Parse(c.BaseURL)
	if c.BaseURL != "" &&
		(err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "") {
		faults = append(faults,
			c.Settings+"_BASE_URL: it is not an address such as "+c.Default+", without a user or a query")
	}
	return faults
}

// Endpoint is one model at one address.
type Endpoint struct {
	Model string
	Place string // the host, as errors name it
	Config

	client *http.Client
}

// New makes the Endpoint of a model, with what the configuration leaves open filled in. It calls nothing. The error
// lists all faults, of category invalid.
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
	if c.Silence <= 0 {
		c.Silence = defaultSilence
	}
	if c.MaxResponse <= 0 {
		c.MaxResponse = defaultMaxResponse
	}
	if c.Transport == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = idleConnections
		c.Transport = transport
	}
	client := &http.Client{
		Transport:     c.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Endpoint{Model: model, Place: u.Host, Config: c, client: client}, nil
}

// Origin identifies the model, its endpoint and the account that asks it, for what belongs to all three (core.Kept).
// The key can't be found from it.
func (e *Endpoint) Origin() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q", e.BaseURL, e.Model, e.Key, e.Headers["OpenAI-Organization"])
	return hex.EncodeToString(h.Sum(nil))[:16]
}
