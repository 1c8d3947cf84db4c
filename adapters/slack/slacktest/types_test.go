package slacktest_test

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
)

// faults is a test that collects its errors.
type faults struct {
	testing.TB
	all []string
}

func (f *faults) Error(args ...any) { f.all = append(f.all, fmt.Sprint(args...)) }

// TestRequestsThatDoNotHaveTheirTypeAreFound: each is reported with what was sent.
func TestRequestsThatDoNotHaveTheirTypeAreFound(t *testing.T) {
	slacktest.NeedsTypes(t)
	w := newWorkspace(t, slacktest.Options{})
	if _, _, err := w.api.PostMessage("C1", card("May I?")); err != nil {
		t.Fatal(err)
	}
	if checked := slacktest.TypeCheck(t, w.Server); checked["chat.postMessage"] == 0 {
		t.Errorf("nothing was compared: %v", checked)
	}
	const colour = `[{"type":"section","text":{"type":"mrkdwn","text":"x"},"colour":"red"}]`
	for _, bad := range []url.Values{
		{"blocks": {colour}},
		{"text": {"x"}, "metadata": {`{"event_type":"x","event_payload":5}`}},
		{"attachments": {`[{"fallback":"x","blocks":` + colour + `}]`}},
	} {
		_, _, _ = w.api.PostMessage("C1",
			slackgo.UnsafeMsgOptionEndpoint(w.APIURL()+"chat.postMessage", func(v url.Values) {
				maps.Copy(v, bad) // the fake may refuse it
			}))
	}
	found := &faults{TB: t}
	slacktest.TypeCheck(found, w.Server)
	said := strings.Join(found.all, "\n")
	for _, want := range []string{"colour", "Blocks", "Attachment[]", "event_payload", "chat.postMessage"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not reported:\n%s", want, said)
		}
	}
	if len(found.all) < 3 {
		t.Errorf("%d faults:\n%s", len(found.all), said)
	}
}
