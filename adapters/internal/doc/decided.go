package doc

import (
	"strings"

	"gatehouse/core"
)

var stateWords = map[core.ApprovalState]string{
	core.Approved: "Approved", core.Denied: "Denied", core.Cancelled: "Cancelled", core.Expired: "Expired", core.Answered: "Answered",
}

var runSigns = map[core.CallState]string{
	core.CallRunning: "⏳", core.CallDone: "✅", core.CallFailed: "❌", core.CallNotRun: "⏹️", core.CallUnknown: "❓",
}

// decided adds who decided, when and why, and what became of the call.
func (v *Document) decided() {
	c, word := v.card, stateWords[v.card.State]
	if c.State != core.Expired && (c.DecidedBy != "" || c.Decided.ID != "") {
		all := map[core.ApprovalState][]core.Actor{core.Approved: c.Voters, core.Denied: c.Against}[c.State]
		if len(all) > 1 {
			v.add(word+" by", v.people(persons(all))...)
		} else {
			v.addPerson(word+" by", c.Decided, c.DecidedBy)
		}
	}
	if !c.DecidedAt.IsZero() {
		v.add(word+" at", Span{Kind: Moment, At: c.DecidedAt})
	}
	if c.State == core.Answered {
		before := ""
		if strings.Contains(c.Answer, "\n") {
			before = "\n"
		}
		v.addWide("Answer", own(before), Span{Kind: Lines, Text: c.Answer, Limit: LimitReason})
	}
	if c.Reason != "" {
		v.addWide("Reason", Span{Kind: Said, Text: c.Reason, Limit: LimitReason})
	}
	if c.State != core.Approved || c.Run == core.CallWaits {
		return
	}
	result := []Span{own(runSigns[c.Run] + " "), {Kind: Subject, Text: c.RunText(), Limit: LimitReason}}
	if c.Run != core.CallRunning && !c.RunAt.IsZero() {
		result = append(result, own(", "), Span{Kind: Moment, At: c.RunAt})
	}
	if c.Run == core.CallUnknown {
		result = append(result, own(". It may have been done: check before you ask again."))
	}
	v.addWide("Result", result...)
}
