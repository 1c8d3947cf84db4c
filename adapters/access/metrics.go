package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"gatehouse/core"
)

// Secret is a token that is nobody's: it lets a program in, to one thing. Only its digest is kept. The zero value is
// none.
type Secret struct {
	set    bool
	digest [sha256.Size]byte
}

// ParseSecret reads a token; "" is none. The error, of category invalid, says what is wrong, and shows nothing of it.
func ParseSecret(token string) (Secret, error) {
	if token == "" {
		return Secret{}, nil
	}
	if fault := tokenFault(token); fault != "" {
		return Secret{}, core.Errorf(core.Invalid, "%s", fault)
	}
	return Secret{set: true, digest: sha256.Sum256([]byte(token))}, nil
}

// is takes the same time for each token that is wrong.
func (s Secret) is(token string) bool {
	digest := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(s.digest[:], digest[:]) == 1 && s.set
}

// Metrics refuses a request for the numbers of /metrics, unless it comes from a program on this machine for this
// machine, or has the token for them. The error is a *Refusal that says what to set.
func (g *Gate) Metrics(r *http.Request) error {
	far := farFrom(r)
	if far == "" {
		return nil
	}
	token, sent, err := bearer(r)
	switch {
	case err != nil:
		return err
	case !g.metrics.set:
		return unauthorized(far + " The metrics are for programs on gatehouse's own machine, unless " +
			"GATEHOUSE_METRICS_TOKEN (or GATEHOUSE_METRICS_TOKEN_FILE) is set: set it, start gatehouse again, and " +
			"let the scraper send Authorization: Bearer TOKEN.")
	case !sent:
		return unauthorized(far + " Send the token of GATEHOUSE_METRICS_TOKEN (or of the file that " +
			"GATEHOUSE_METRICS_TOKEN_FILE names) as Authorization: Bearer TOKEN.")
	case !g.metrics.is(token):
		refusal := g.guesses.wrong(r, token)
		if refusal.Status == http.StatusUnauthorized {
			refusal.Message = "The token is not that of GATEHOUSE_METRICS_TOKEN (or of the file that " +
				"GATEHOUSE_METRICS_TOKEN_FILE names). Set the scraper's to the same."
		}
		return refusal
	}
	return nil
}
