package admin

import (
	"context"
	"fmt"
	"time"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// rememberedCmd is gatehouse approvals remembered.
type rememberedCmd struct {
	List   rememberedListCmd   `cmd:"" help:"List the approvals that allow further calls now, latest first."`
	Revoke rememberedRevokeCmd `cmd:"" help:"Stop an approval from allowing further calls, as the local admin."`
}

type rememberedListCmd struct{ cli.JSONFlag }

// memory is an approval that allows further calls.
type memory struct {
	Approval     core.ApprovalID     `json:"approval"`
	Tool         string              `json:"tool"`
	Action       string              `json:"action"`
	By           string              `json:"by"`
	Conversation core.ConversationID `json:"conversation"`
	Until        time.Time           `json:"until"`
	Used         int                 `json:"used"`
	Uses         int                 `json:"uses"`
}

var memoryTable = table[memory]{
	none:   "No approval is remembered now.",
	header: []string{"APPROVAL", "ACTION", "APPROVED BY", "CONVERSATION", "UNTIL", "USED"},
	row: func(m memory) []string {
		return []string{
			string(m.Approval), cli.Short(m.Action), m.By, string(m.Conversation), cli.Stamp(m.Until),
			fmt.Sprintf("%d of %d", m.Used, m.Uses),
		}
	},
}

// Run prints the list.
func (c rememberedListCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	approved, err := store.ListApprovals(ctx, core.ApprovalFilter{States: []core.ApprovalState{core.Approved}})
	if err != nil {
		return err
	}
	all := []memory{}
	used := map[core.ApprovalID]int{} // each use was made after its approval, which is further down
	for _, p := range approved {
		if p.Use != nil {
			used[p.Use.Of]++
			continue
		}
		next := p.NextUse(used[p.ID], time.Now())
		if next == nil {
			continue
		}
		if _, err := store.RecordedApproval(ctx, p.ID); err != nil {
			continue // the audit log contradicts it, so it allows nothing
		}
		all = append(all, memory{
			p.ID, p.Call.Tool, viewApproval(p).action(), nameOf(p.DecidedBy), p.Conversation, next.Until.UTC(),
			used[p.ID], next.Uses,
		})
	}
	return memoryTable.print(a, c.JSONFlag, all)
}

type rememberedRevokeCmd struct {
	cli.JSONFlag
	ID string `arg:"" help:"The id of an approval, or the beginning or end of one id alone."`
	As string `placeholder:"NAME" help:"The name that the audit log records beside the user of the operating system."`
}

// Run stops what an approval allows. What it has allowed already stays done.
func (c rememberedRevokeCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	p, err := votedOn(ctx, store, c.ID)
	if err != nil {
		return err
	}
	click := core.Click{Approval: p.ID, Choice: core.Forget}
	d, err := approvals.NewService(store, store).AdminVote(ctx, click, c.As, systemUser())
	if err != nil {
		return unknownApproval(err, c.ID)
	}
	if c.JSON {
		return a.PrintJSON(viewApproval(d.Approval))
	}
	a.PrintLine("The approval %s is not remembered any more. The next such call needs an approval.", d.Approval.ID)
	return nil
}

// remembered says what an approval allows besides its own call; "" if nothing.
func remembered(card core.Card) string {
	switch m := card.Memory; {
	case card.Use != nil:
		return fmt.Sprintf("use %d of %d of %s, until %s", card.Use.N, card.Use.Uses, card.Use.Of,
			cli.Stamp(card.Use.Until))
	case m == core.Memory{}:
		return ""
	case card.State == core.Open:
		return fmt.Sprintf("may be remembered for %s, for %d more calls", m.For, m.Uses)
	default:
		return fmt.Sprintf("until %s, for %d more calls", cli.Stamp(card.Until), m.Uses)
	}
}
