package core

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Rule is what a policy says of a call: whether it runs, and who decides. An approval has a snapshot of the rule that
// matched when it was opened, and only that counts.
type Rule struct {
	Name    string  `json:"name"` // of a rule of the policy, or of one of its defaults
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"` // a sentence for people
	// ids of people and of platforms' groups; LocalPerson is any Local actor
	Approvers []string        `json:"approvers,omitempty"`
	Quorum    int             `json:"quorum,omitempty"`  // different people who must approve; 0 and 1 are the same
	Vetoes    int             `json:"vetoes,omitempty"`  // different people whose denials end it; 0 and 1 are the same
	Self      bool            `json:"self,omitempty"`    // who asked may decide too, from any of their accounts
	Timeout   time.Duration   `json:"timeout,omitempty"` // 0 = none
	Remind    []time.Duration `json:"remind,omitempty"`  // when the approvers are reminded, counted from the opening
	Escalate  Escalation      `json:"escalate,omitzero"` // who else may decide, and from when on
	// reminders and the escalation wait until then; the timeout does not
	Hours Hours `json:"hours,omitzero"`
	// who is told where: NotifyHere, NotifyDM, or a channel, "slack:C123"; none = NotifyHere
	Notify   []string      `json:"notify,omitempty"`
	Reason   bool          `json:"reason,omitempty"`   // a denial needs a reason
	Remember time.Duration `json:"remember,omitempty"` // see Memory; 0 = no approval is remembered
	Edit     bool          `json:"edit,omitempty"`     // an approver may change the arguments
	Batch    bool          `json:"batch,omitempty"`    // a page may offer it to be decided together with others

	// RememberUses is how many further calls a remembered approval allows; 0 = DefaultUses. An approval of a dangerous
	// call is remembered only with RememberDangerous.
	RememberUses      int  `json:"remember_uses,omitempty"`
	RememberDangerous bool `json:"remember_dangerous,omitempty"`

	// the name of the person behind an account; an account without one is a person of its own
	People map[string]string `json:"people,omitempty"`
}

// Escalation is who else may decide, if nobody has decided for a while. After is counted from the opening; 0 = never.
type Escalation struct {
	After time.Duration `json:"after"`
	To    []string      `json:"to"` // as Rule.Approvers
}

// Values of Rule.Notify that are not channels.
const (
	NotifyHere = "here" // on the card, in the conversation; who can't see it gets a copy as a direct message
	NotifyDM   = "dm"   // each approver who is named gets a copy as a direct message
)

// Verdict is the policy's decision on a call.
type Verdict string

// The verdicts.
const (
	// runs at once; of a call that changes something, the decision is recorded with its signal, like a person's
	VerdictAllow Verdict = "allow"
	VerdictAsk   Verdict = "ask"
	VerdictDeny  Verdict = "deny"
)

// LocalPerson in a rule's approvers means any Local actor.
const LocalPerson = "local"

// Person returns who is behind an account: the same for all accounts of one person.
func (r Rule) Person(id string) string { return cmp.Or(r.People[id], id) }

// At is the rule of a request as it holds at a moment: with those to whom it has been escalated by then.
func (r Rule) At(opened, now time.Time) Rule {
	if r.Escalate.After > 0 && !now.Before(r.due(opened, r.Escalate.After)) {
		return r.Escalated()
	}
	return r
}

// due is when a reminder or the escalation is due, so long after the opening.
func (r Rule) due(opened time.Time, after time.Duration) time.Time {
	if len(r.Hours.Days) == 0 {
		return opened.Add(after)
	}
	return r.Hours.Next(opened.Add(after))
}

// Escalated is the rule after its escalation: those to whom it was escalated come first.
func (r Rule) Escalated() Rule {
	r.Approvers = slices.Concat(r.Escalate.To, r.Approvers)
	r.Escalate = Escalation{}
	return r
}

// Groups returns the approvers, including those of a later escalation: a platform is asked which of these are groups
// that a voter is in.
func (r Rule) Groups() []string { return slices.Concat(r.Approvers, r.Escalate.To) }

// MayDecide reports whether the rule lets this person decide a request of requester.
func (r Rule) MayDecide(who, requester Actor) bool { return r.refusal(who, requester) == nil }

// refusal is why a person may not decide a request of requester, as not_allowed; nil if they may.
func (r Rule) refusal(who, requester Actor) error {
	person := r.Person(who.ID)
	approver := slices.ContainsFunc(r.Approvers, func(a string) bool {
		return a == who.ID || r.Person(a) == person || a == LocalPerson && who.Local || slices.Contains(who.Groups, a)
	})
	switch {
	case !approver:
		return Errorf(NotAllowed, "You are not an approver of this request.")
	case person == r.Person(requester.ID) && !r.Self:
		return Errorf(NotAllowed, "You asked for this yourself, so another approver has to decide.")
	}
	return nil
}

// Reader is somebody who may see an approval, by one of their accounts.
type Reader struct {
	Since time.Time // from when on they may see it; zero: from the beginning
	Waits bool      // while it is open, it waits for their decision: they may decide, and have no vote that stands
}

// Readers are those who may see the approval, by their accounts: who asked, who may decide or has voted, and those to
// whom it is escalated. A group is one of them, its members are not.
func (a Approval) Readers() map[string]Reader {
	all := map[string]Reader{}
	add := func(account string, since time.Time) {
		if earlier, known := all[account]; !known || since.Before(earlier.Since) {
			all[account] = Reader{since, a.waitsFor(account)}
		}
	}
	see := func(id string, since time.Time) {
		person := a.Rule.Person(id)
		add(id, since)
		add(person, since)
		for account, of := range a.Rule.People {
			if of == person {
				add(account, since)
			}
		}
	}
	see(a.Requester.ID, time.Time{})
	for _, id := range a.Rule.Approvers {
		see(id, time.Time{})
	}
	for _, v := range a.Standing() {
		see(v.Actor.ID, time.Time{})
	}
	if a.Rule.Escalate.After > 0 {
		for _, id := range a.Rule.Escalate.To {
			see(id, a.Rule.due(a.CreatedAt, a.Rule.Escalate.After))
		}
	}
	return all
}

// waitsFor reports whether the approval waits for a decision by an account, once it is escalated as far as it can be.
func (a Approval) waitsFor(account string) bool {
	who := Actor{ID: account, Local: account == LocalPerson}
	if account == a.Requester.ID {
		who = a.Requester
	}
	voted := func(v Vote) bool { return a.Rule.Person(v.Actor.ID) == a.Rule.Person(account) }
	return a.Rule.Escalated().MayDecide(who, a.Requester) && !slices.ContainsFunc(a.Standing(), voted)
}

// Same reports whether two rules say the same. Which accounts are noted as one person's depends on the requester, so it
// does not count.
func (r Rule) Same(other Rule) bool {
	r.People, other.People = nil, nil
	one, err := json.Marshal(r)
	two, err2 := json.Marshal(other)
	return err == nil && err2 == nil && bytes.Equal(one, two)
}

// Hours are working hours: From until To, in minutes after midnight, on these days of a time zone.
type Hours struct {
	Zone string         `json:"zone"` // such as Europe/Berlin
	Days []time.Weekday `json:"days"`
	From int            `json:"from"`
	To   int            `json:"to"` // not included; 1440 is midnight
}

// Next is a moment, if it is in working hours, and otherwise the next one that is: they begin when the clocks of the
// zone show From, whether these were changed meanwhile or not. Without days, or where the zone is not known, it is the
// moment itself.
func (h Hours) Next(at time.Time) time.Time {
	zone, err := time.LoadLocation(h.Zone)
	if err != nil {
		return at
	}
	year, month, day := at.In(zone).Date()
	for n := range 8 {
		from := time.Date(year, month, day+n, 0, h.From, 0, 0, zone)
		to := time.Date(year, month, day+n, 0, h.To, 0, 0, zone)
		if slices.Contains(h.Days, time.Date(year, month, day+n, 12, 0, 0, 0, zone).Weekday()) && at.Before(to) {
			if at.After(from) {
				return at
			}
			return from
		}
	}
	return at
}
