package admin

import (
	"context"
	"errors"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage"
)

type approvalDetail struct {
	approvalView
	Run     core.CallState `json:"run,omitempty"`      // what became of the call; absent: it has not begun
	RunNote string         `json:"run_note,omitempty"` // why it failed, was not run, or is in doubt; secrets masked
	RunAt   time.Time      `json:"run_at,omitzero"`
	Intent  *intentView    `json:"intent"` // null: the tool was not started
}

func detailOf(v approvalView, card core.Card, intent *intentView) approvalDetail {
	return approvalDetail{v, card.Run, card.RunNote, card.RunAt.UTC(), intent}
}

type intentView struct {
	Tool     string        `json:"tool"`
	BegunAt  time.Time     `json:"begun_at"`
	EndedAt  time.Time     `json:"ended_at,omitzero"`
	Result   *string       `json:"result"` // null: unknown
	Category core.Category `json:"category,omitempty"`
}

// viewIntent is nil for a call that never began.
func viewIntent(c core.Call, i *core.IntentRecord) *intentView {
	if i == nil || i.BegunAt.IsZero() {
		return nil
	}
	v := &intentView{Tool: i.Tool, BegunAt: i.BegunAt.UTC(), EndedAt: i.EndedAt.UTC()}
	if i.Result != nil {
		content := c.Mask(i.Result.Content)
		v.Result, v.Category = &content, i.Result.Category
	}
	return v
}

// result is what the tool returned, or its typed error.
func (v *intentView) result() string {
	if v == nil || v.Result == nil {
		return ""
	}
	return *v.Result
}

// runOf is what became of an approved call, in the words of its card, and when. The process that ran the call may have
// ended since, so here it is not said to be running.
func runOf(card core.Card) string {
	text := card.RunText()
	switch card.Run {
	case core.CallWaits:
		return ""
	case core.CallRunning:
		text = "Started, no result yet"
	}
	return text + " (" + cli.Stamp(card.RunAt) + ")"
}

// disputed is the state that is printed of an approval which the audit log contradicts.
const disputed core.ApprovalState = "disputed"

// recorded returns an approval, and the intent of its call, as the audit log records them. One that the log contradicts
// is disputed: it has no more than what holds, and its summary says so.
func recorded(
	ctx context.Context, store *storage.Store, id core.ApprovalID,
) (core.Approval, *core.IntentRecord, error) {
	p, intent, err := store.Recorded(ctx, id)
	if errors.As(err, new(*audit.Contradiction)) {
		p.State, p.Call.Summary, err = disputed, core.MessageOf(err), nil
	}
	return p, intent, err
}
