package doc

import (
	"strings"

	"gatehouse/core"
)

// decided adds who decided, when and why, and what became of the call.
func (v *Document) decided() {
	c, t, end := v.card, v.Texts, v.ending()
	if c.State != core.Expired && (c.DecidedBy != "" || c.Decided.ID != "") {
		all := map[core.ApprovalState][]core.Actor{core.Approved: c.Voters, core.Denied: c.Against}[c.State]
		if len(all) > 1 {
			v.add(DecidedBy, end.by, v.people(v.persons(all))...)
		} else {
			v.addPerson(DecidedBy, end.by, c.Decided, c.DecidedBy)
		}
	}
	if !c.DecidedAt.IsZero() {
		v.add(DecidedAt, end.at, Span{Kind: Moment, At: c.DecidedAt})
	}
	if c.State == core.Answered {
		before := ""
		if strings.Contains(c.Answer, "\n") {
			before = "\n"
		}
		v.addWide(Answer, t.LabelAnswer, own(before), Span{Kind: Lines, Text: c.Answer, Limit: LimitReason})
	}
	if c.Reason != "" {
		v.addWide(Reason, t.LabelReason, Span{Kind: Said, Text: c.Reason, Limit: LimitReason})
	}
	run := map[core.CallState]struct{ sign, text string }{
		core.CallRunning: {"⏳ ", t.ResultRunning}, core.CallDone: {"✅ ", t.ResultDone}, core.CallFailed: {"❌ ", t.ResultFailed},
		core.CallNotRun: {"⏹️ ", t.ResultNotRun}, core.CallUnknown: {"❓ ", t.ResultUnknown},
	}[c.Run]
	if c.State != core.Approved || run.sign == "" {
		return
	}
	if c.RunNote != "" && (c.Run == core.CallFailed || c.Run == core.CallNotRun) {
		run.text += ": " + c.RunNote
	}
	result := []Span{own(run.sign), {Kind: Subject, Text: run.text, Limit: LimitReason}}
	if c.Run != core.CallRunning && !c.RunAt.IsZero() {
		result = append(result, own(", "), Span{Kind: Moment, At: c.RunAt})
	}
	if c.Run == core.CallUnknown {
		result = append(result, own(". "+t.ResultDoubt))
	}
	v.addWide(Result, t.LabelResult, result...)
}
