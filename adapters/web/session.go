package web

import (
	"fmt"
	"net/http"

	"gatehouse/core"
)

// turnRow is a turn in a table: who began it, what became of it, and what it led to.
type turnRow struct {
	core.EventRecord
	Kind, State  string
	Where        string
	Page         string // of a dead letter; ""
	SessionPage  string // "" = it has had none
	AskedFor     []approvalLink
	Said         []postRow
	Person, Name string
}

// approvalLink leads to an approval, which is told by its tool: its summary may have words of a message.
type approvalLink struct{ Tool, State, Page string }

// postRow is a post in a table.
type postRow struct {
	core.OutboxRow
	InWords string
	Where   string
	Page    string // of a dead letter; ""
}

type sessionPage struct {
	clock
	ID    core.SessionID
	Name  string
	Turns []turnRow
	Full  bool   // there may be more
	More  string // the address of the page with more of them; "" = it has all that it can
}

// session shows the turns of a session, the approvals that they asked for, and what they said.
func (v *request) session(id core.SessionID) error {
	ctx := v.r.Context()
	n := v.rows()
	turns, err := v.Views.Events(ctx, core.EventFilter{Session: id, Bare: true, Limit: n})
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		return nothingHere()
	}
	asked, err := v.Approvals.List(ctx, core.ApprovalFilter{Session: id, Limit: n})
	if err != nil {
		return err
	}
	posts, err := v.Views.ListPosts(ctx, nil, id.Conversation(), 2*n)
	if err != nil {
		return err
	}
	page := sessionPage{
		clock: clock{v.Now()}, ID: id, Name: v.sessionInWords(id), Full: len(turns) == n, More: v.more(len(turns)),
	}
	for _, e := range turns {
		row := v.turnRow(e)
		for _, a := range asked {
			if a.Invocation == e.Invocation && e.Kind() != core.KindSignal {
				row.AskedFor = append(row.AskedFor, approvalLink{a.Call.Tool, string(a.State), pageOf(a.ID)})
			}
		}
		for _, p := range posts {
			if p.Event == e.Seq {
				row.Said = append(row.Said, v.postRow(p))
			}
		}
		page.Turns = append(page.Turns, row)
	}
	return v.show(http.StatusOK, "session", page.Name, page)
}

func (v *request) turnRow(e core.EventRecord) turnRow {
	row := turnRow{
		EventRecord: e, Kind: inWords(kindsOfTurns, e.Kind()), State: inWords(turnStates, e.End.Kind),
		Where: v.conversationInWords(e.Conversation), Person: e.Actor.ID, Name: e.Actor.Called(),
	}
	if e.End.Kind == core.EndDead {
		row.Page = fmt.Sprintf("/queue?turn=%d", e.Seq)
	}
	if e.Session != "" {
		row.SessionPage = pageOfSession(e.Session)
	}
	return row
}

func (v *request) postRow(r core.OutboxRow) postRow {
	row := postRow{OutboxRow: r, InWords: inWords(postStates, r.State), Where: v.conversationInWords(r.Conversation)}
	if r.State == core.RowDead || r.State == core.RowUnknown {
		row.Page = fmt.Sprintf("/queue?post=%d", r.Seq)
	}
	return row
}
