package outbound_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

func TestEveryHeadlineOfACardIsKnown(t *testing.T) {
	for _, state := range []core.ApprovalState{
		core.Open, core.Approved, core.Denied, core.Expired, core.Cancelled, core.Answered,
	} {
		for _, occasion := range []core.Occasion{"", core.Reminder, core.Escalated} {
			for _, risk := range []core.Risk{core.Ordinary, core.Dangerous} {
				for _, q := range []*question.Question{nil, {Text: "Which?"}} {
					card := core.Card{State: state, Risk: risk, Question: q, Asked: core.Asked{Place: 2, Of: 3}}
					headline := doc.View(core.Delivery{Post: core.Post{Occasion: occasion}, Card: &card},
						doc.Reader{}).Headline
					if approval := q == nil; state == core.Answered && approval ||
						(state == core.Approved || state == core.Denied) && !approval {
						continue // there is none
					}
					for _, text := range []string{
						headline, "# " + headline, "I did it.\n\n**" + headline + "**\n\nmore",
					} {
						if !outbound.LooksLikeCard(text, nil) {
							t.Errorf("%q", text)
						}
					}
				}
			}
		}
	}
}

func TestLooksLikeCard(t *testing.T) {
	for _, text := range []string{
		"# 🔔 Approval needed for you", "## :bell: Approval needed", "🔔 **Approval** _needed_", "> Approval needed",
		"1. Approval needed", "Approval\nneeded\n===",
		"Аррrоvаl nееdеd", "Ａｐｐｒｏｖａｌ　ｎｅｅｄｅｄ", "𝐀𝐩𝐩𝐫𝐨𝐯𝐚𝐥 𝐧𝐞𝐞𝐝𝐞𝐝", "A\u200bpproval need\u00aded", "Ápprővâl nèeded",
		"ApprovaI needed", "Appr0va1 needed", "&#65;pproval&nbsp;needed", "A p p r o v a l n e e d e d",
		"🅰🅿🅿🆁🅾🆅🅰🅻 🅽🅴🅴🅳🅴🅳", "Please note: 🔔 Approval needed", "# Urgent: approval needed", "✅ Approved\nby bob",
		":white_check_mark: Approved by bob",
		"| Tool | Asked by |\n|---|---|\n| pay | ann |", "**Tool:** pay\n**Asked by:** ann\n**May decide:** bob",
		"*Mау dесіdе*: bob\n*Expires*: soon",
		"Hello\n\n" + strings.Repeat("words ", 500) + "\n---\n# Approval needed",
	} {
		if !outbound.LooksLikeCard(text, nil) {
			t.Errorf("does not look like a card: %q", text)
		}
	}
	for _, text := range []string{
		"", "Hello", "# Heading\n\n- a\n- b", "No approval needed for that.", "Approved expenses are in the list.",
		"Tool: pay\nArguments: none\nResult: done", "I asked by mail.", "Denied requests go to Bob.\nReason: none",
		"| Tool | Result |\n|---|---|\n| pay | ok |",
	} {
		if outbound.LooksLikeCard(text, nil) {
			t.Errorf("looks like a card: %q", text)
		}
	}
}

// TestReplacedTextsLookLikeACardToo, in any script, and the built-in ones still do.
func TestReplacedTextsLookLikeACardToo(t *testing.T) {
	texts := wording.New(map[string]string{
		"headline_approval": "🔔 Freigabe nötig", "headline_question": "❓ ボットからの質問", "headline_approved": "✅ Да",
		"label_asked_by": "Gefragt von", "label_tool": "Werkzeug", "label_may_decide": "誰が決める",
	})
	for _, text := range []string{
		"# Freigabe notig", "**Frеigаbе nötig**", "ボットからの質問", "✅ Да", "Werkzeug: pay\nGefragt von: ann",
		"誰が決める: bob\nWerkzeug: pay",
		"Approval needed", "Tool: pay\nAsked by: ann",
	} {
		if !outbound.LooksLikeCard(text, texts) {
			t.Errorf("does not look like a card: %q", text)
		}
	}
	for _, text := range []string{"", "Hello", "Das Werkzeug ist da.", "Данные", "質問があります", "2 + 2\n\n- a"} {
		if outbound.LooksLikeCard(text, texts) {
			t.Errorf("looks like a card: %q", text)
		}
	}
}
