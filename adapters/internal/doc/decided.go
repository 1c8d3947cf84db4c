package doc

import (
	"strings"

	"gatehouse/core"
)

var runSigns = map[core.CallState]string{
	core.CallRunning: "⏳ ", core.CallDone: "✅ ", core.CallFailed: "❌ ", core.CallNotRun: "⏹️ ", core.CallUnknown: "❓ ",
}

// decided adds who decided, when and why, and what became of the call.
func (v *Document) decided() {
	c, label := v.card, "label_"+string(v.card.State)
	if c.State != core.Expired && (c.DecidedBy != "" || c.Decided.ID != "") {
		all := map[core.ApprovalState][]core.Actor{core.Approved: c.Voters, core.Denied: c.Against}[c.State]
		if len(all) > 1 {
			v.add(DecidedBy, v.Of(label+"_by"), v.people(Person, all)...)
		} else {
			v.addPerson(DecidedBy, v.Of(label+"_by"), c.Decided, c.DecidedBy)
		}
	}
	if !c.DecidedAt.IsZero() {
		v.add(DecidedAt, v.Of(label+"_at"), Span{Kind: Moment, At: c.DecidedAt})
	}
	if c.State == core.Answered {
		before := ""
		if strings.Contains(c.Answer, "\n") {
			before = "\n"
		}
		v.add(Answer, v.LabelAnswer, own(before), foreign(Lines, c.Answer, LimitReason))
	}
	if c.Reason != "" {
		v.add(Reason, v.LabelReason, foreign(Said, c.Reason, LimitReason))
	}
	if c.State != core.Approved || c.Run == core.CallWaits {
		return
	}
	became := v.Of("result_" + string(c.Run))
	if c.RunNote != "" && (c.Run == core.CallFailed || c.Run == core.CallNotRun) {
		became += ": " + c.RunNote
	}
	result := []Span{own(runSigns[c.Run]), foreign(Subject, became, LimitReason)}
	if c.Run != core.CallRunning && !c.RunAt.IsZero() {
		result = append(result, own(", "), Span{Kind: Moment, At: c.RunAt})
	}
	if c.Run == core.CallUnknown {
		result = append(result, own(". "+v.ResultDoubt))
	}
	v.add(Result, v.LabelResult, result...)
}
