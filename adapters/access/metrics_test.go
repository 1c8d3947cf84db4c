package access_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// metricsToken is the token for metrics of the tests' gates.
const metricsToken = "token-of-the-scraper-0123456789"

func TestMetricsAreForThisMachineAndForItsToken(t *testing.T) {
	with := newGate(t, newClock(), people)
	signer, err := core.NewSigner(oldKey)
	if err != nil {
		t.Fatal(err)
	}
	without := access.New(access.Options{Signer: signer, Now: newClock().Now})
	far := func(headers ...string) *http.Request {
		r := request("GET", headers...)
		r.RemoteAddr = "10.0.0.7:50000"
		return r
	}
	for name, c := range map[string]struct {
		gate   *access.Gate
		r      *http.Request
		status int // 0: it is let in
		says   string
	}{
		"this machine":            {without, request("GET"), 0, ""},
		"this machine, no token":  {with, request("GET"), 0, ""},
		"another machine":         {without, far(), 401, "GATEHOUSE_METRICS_TOKEN_FILE"},
		"a proxy":                 {without, request("GET", "X-Forwarded-For: 10.0.0.7"), 401, "METRICS_TOKEN"},
		"another host":            {without, request("GET", "Host: gate.example"), 401, "GATEHOUSE_METRICS_TOKEN"},
		"an empty token":          {without, far("Authorization: Bearer "), 401, "GATEHOUSE_METRICS_TOKEN"},
		"no token":                {with, far(), 401, "Authorization: Bearer"},
		"the token":               {with, far("Authorization: Bearer " + metricsToken), 0, ""},
		"the token, by a proxy":   {with, request("GET", "Via: 1.1 x", "Authorization: Bearer "+metricsToken), 0, ""},
		"another token":           {with, far("Authorization: Bearer " + metricsToken + "x"), 401, "is not that of"},
		"a person's token":        {with, far("Authorization: Bearer " + bobToken), 401, "GATEHOUSE_METRICS_TOKEN"},
		"an empty one of another": {with, far("Authorization: Bearer"), 401, "GATEHOUSE_METRICS_TOKEN"},
		"two headers":             {with, far("Authorization: Bearer a", "Authorization: Bearer b"), 401, "Send one"},
	} {
		var err error
		synctest.Test(t, func(*testing.T) { err = c.gate.Metrics(c.r) })
		switch {
		case c.status == 0 && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.status > 0:
			if r := refused(t, name, err, c.status); !strings.Contains(r.Message, c.says) {
				t.Errorf("%s: %s", name, r.Message)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		_, err = with.Identify(request("POST", "Authorization: Bearer "+metricsToken))
		refused(t, "the token for metrics elsewhere", err, 401)
	})
}

func TestTokensForMetricsAreChecked(t *testing.T) {
	for _, wrong := range []string{"tiny", "token with spaces in it", "token-with-ä-0123456789"} {
		if _, err := access.ParseSecret(wrong); core.CategoryOf(err) != core.Invalid ||
			strings.Contains(core.MessageOf(err), wrong) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
