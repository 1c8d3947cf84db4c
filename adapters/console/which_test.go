package console_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"gatehouse/adapters/console"
	"gatehouse/core"
)

// wipes is an open card of something dangerous.
func wipes(id core.ApprovalID, what string) core.Card {
	return core.Card{
		Approval: id, State: core.Open, Tool: "disk.wipe", Summary: "Wipe " + what, Risk: core.Dangerous,
		Requester: "Ann", Approvers: []string{core.LocalPerson},
	}
}

// clicks are the decisions that a console stored, and the texts of its messages.
func storedBy(s *gateway) (decided, said []string) {
	for _, e := range s.events {
		if c, err := core.ClickOf(e); err == nil && e.Kind() == core.KindClick {
			decided = append(decided, string(c.Choice)+" "+string(c.Approval))
		} else {
			said = append(said, string(e.Payload))
		}
	}
	return decided, said
}

// TestAnApprovalOfEarlierIsOneLine, and the next line is a message.
func TestAnApprovalOfEarlierIsOneLine(t *testing.T) {
	for _, c := range []struct {
		open []core.Card
		want string
	}{
		{[]core.Card{wipes("a1", "a")}, "approval> 1 approval is open (a1). To see it, type /status\n"},
		{[]core.Card{wipes("a1", "a"), wipes("a2", "b")},
			"approval> 2 approvals are open (a1, a2). To see them, type /status\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newGateway(t, console.Options{In: strings.NewReader("y\n"), Cards: openCards(c.open)})
			if got := s.run(nil); !strings.HasPrefix(got, c.want) || strings.Contains(got, "disk.wipe") {
				t.Errorf("got %s", got)
			}
			if decided, said := storedBy(s); decided != nil || len(said) != 1 {
				t.Errorf("decided %q, said %q", decided, said)
			}
		})
	}
}

// TestApproveOfTwoTakesNone but lists them; an answer that names one decides it. What needs the word takes no y.
func TestApproveOfTwoTakesNone(t *testing.T) {
	for typed, want := range map[string]struct{ decided, said string }{
		"approve":            {"", "approval> approve 01a21fd0-b: Wipe b\n"},
		"APPROVE ":           {"", "2 approvals are open, so nothing was decided."},
		"y":                  {"", "bot> To approve this, type approve. Nothing was decided.\n"},
		"y 01a21fd0-a":       {"", "bot> To approve this, type approve. Nothing was decided.\n"},
		"approve 01a21fd0-a": {"approve 01a21fd0-a", ""},
		"approve 01a21fd0-b": {"approve 01a21fd0-b", ""},
		"n 01a21fd0-a no":    {"deny 01a21fd0-a", ""},
		"n not today":        {"deny 01a21fd0-b", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newGateway(t, console.Options{In: strings.NewReader(typed + "\n")})
			for id, what := range map[core.ApprovalID]string{"01a21fd0-a": "a", "01a21fd0-b": "b"} {
				card := wipes(id, what)
				s.cards[string(id)] = &card
			}
			s.draw(*s.cards["01a21fd0-a"])
			s.draw(*s.cards["01a21fd0-b"])
			s.run(nil)
			decided, said := storedBy(s)
			if strings.Join(decided, "") != want.decided || len(said) > 0 ||
				!strings.Contains(s.output.String(), want.said) {
				t.Errorf("%q decided %q, and said %q:\n%s", typed, decided, said, s.output.String())
			}
		})
	}
}
