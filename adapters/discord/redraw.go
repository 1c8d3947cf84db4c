package discord

import (
	"context"
	"time"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
	"gatehouse/core/retry"
)

// The answer to a press shows the card as it was before the decision, with its buttons disabled, and Discord may show
// it after a later state. So the card is redrawn once more after the answer. If the process dies in between, the next
// one redraws what was pressed lately.

// takesEffect is how long Discord needs at most to show the answer of a request that it has made.
const takesEffect = time.Second

// pressedLately is how long ago a press may be whose card a new process redraws.
const pressedLately = 10 * time.Minute

// redraw makes a card show its present state. It is retried until it is stored, or Run ends.
func (d *Discord) redraw(id core.ApprovalID) {
	log := retry.NewLog(d.Log, "redrawing a card whose button was pressed")
	running := d.running()
	for pause := outbound.FirstRetry; ; pause = min(2*pause, outbound.MaxRetry) {
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		err := d.Cards.RedrawCards(ctx, id)
		cancel()
		log.Report(err)
		if err == nil || running.Err() != nil {
			return
		}
		d.sleep(running, pause)
	}
}

// redrawPressed redraws the cards that were pressed before this process began.
func (d *Discord) redrawPressed(ctx context.Context) {
	events, err := d.Inbox.Events(ctx, latest)
	if err != nil {
		d.Log.Warn("which cards were pressed lately can't be read; one of them may show an earlier state",
			"category", core.CategoryOf(err), "err", err)
		return
	}
	done := map[core.ApprovalID]bool{}
	for _, e := range events {
		click, ok := e.Body.(core.ClickEvent)
		if !ok || done[click.Approval] || d.Now().Sub(e.AcceptedAt) > pressedLately {
			continue
		}
		done[click.Approval] = true
		d.redraw(click.Approval)
	}
}
