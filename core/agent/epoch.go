package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/prompt"
	"gatehouse/core/llm/view"
)

// showing is what a model is shown, and the epoch that this belongs to.
type showing struct {
	view.View
	epoch  core.Epoch
	prompt *prompt.Result // nil: there is none
}

// show shows the model a history: all that it was shown before, and what came since. Where that is not possible, a new
// epoch begins. Tools take some of the budget.
func (m ProviderModel) show(
	ctx context.Context, turn core.Turn, history core.History, tools []llm.Tool, inTools int,
) (showing, error) {
	now := turn.At
	if now.IsZero() {
		now = time.Now()
	}
	now = now.In(m.zone())
	before, toolsDigest, over := history.Epoch(), digestOf(tools), false
	if before.Number > 0 && before.Tools == toolsDigest {
		s, err := m.showIn(ctx, turn, history, view.Options{Epoch: dated(before, history, now), Sticky: true}, inTools)
		over = m.Budget > 0 && s.Tokens > m.Budget-inTools
		if err == nil && !over && s.continues(before) {
			return s, nil
		}
		if err != nil && core.CategoryOf(err) != core.ProviderInvalidRequest {
			return showing{}, err
		}
	}
	begun := core.Epoch{
		Number: before.Number + 1, Day: now.Format(time.DateOnly), Began: history.Len(), Tools: toolsDigest,
	}
	s, err := m.showIn(ctx, turn, history, view.Options{Epoch: begun, Cut: over}, inTools)
	s.epoch.From, s.epoch.Also = s.From, s.Also
	return s, err
}

// showIn shows a history in an epoch.
func (m ProviderModel) showIn(
	ctx context.Context, turn core.Turn, history core.History, o view.Options, tools int,
) (showing, error) {
	e := o.Epoch
	s := showing{epoch: e}
	if m.System != nil {
		day, err := time.ParseInLocation(time.DateOnly, e.Day, m.zone())
		if err != nil {
			return s, fmt.Errorf("reading the day of the epoch: %w", err)
		}
		p, err := m.System.Render(prompt.SystemInput(turn.Address.Platform, day))
		if err != nil {
			return s, err
		}
		s.prompt, o.System = &p, p.Messages[0].Content.String()
	}
	s.epoch.Prompt = digestOf(o.System)
	var err error
	s.View, err = m.shown(ctx, o, history, tools)
	if s.Noted {
		s.epoch.Notes = append(e.Notes[:len(e.Notes):len(e.Notes)], history.Len())
	}
	s.epoch.Rows = history.Len()
	return s, err
}

// dated is an epoch with the day of the turn at the person's message that is shown first now, if a day has begun since
// the one before.
func dated(e core.Epoch, history core.History, now time.Time) core.Epoch {
	day, last := now.Format(time.DateOnly), e.Day
	if n := len(e.Days); n > 0 {
		last = e.Days[n-1].Day[:len(time.DateOnly)]
	}
	for i, added := range history.Added() {
		if row := history.Stored() + i; added.Role == core.User && row >= e.Rows && day > last {
			e.Days = append(e.Days[:len(e.Days):len(e.Days)],
				core.EpochDay{Row: row, Day: fmt.Sprintf("%s (%s)", day, now.Location())})
			break
		}
	}
	return e
}

// continues reports whether what is shown begins with all that was shown before.
func (s showing) continues(before core.Epoch) bool {
	return s.epoch.Prompt == before.Prompt && !s.Lacks && len(s.Messages) >= before.Shown &&
		digestOfShown(s.Messages[:before.Shown]) == before.Digest
}

// answered is the epoch once a model has answered. Where it is another one than before, this was its first request in a
// new epoch.
func (s showing) answered(by string) core.Epoch {
	e, messages := s.epoch, s.Messages
	if by != "" && e.Origin != "" && by != e.Origin {
		e.Number, e.Began, messages = e.Number+1, e.Rows, view.Old(messages)
	}
	e.Origin, e.Shown, e.Digest = by, len(messages), digestOfShown(messages)
	return e
}

// digestOfShown identifies messages with what is kept beside them.
func digestOfShown(msgs []core.Message) string {
	type beside struct {
		Kept *core.Kept
		Old  bool
	}
	kept := make([]beside, len(msgs))
	for i, m := range msgs {
		if kept[i].Kept = m.Kept; m.Kept != nil {
			kept[i].Old = m.Kept.Old
		}
	}
	return digestOf(msgs, kept)
}

// digestOf identifies values that are JSON.
func digestOf(all ...any) string {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(all); err != nil {
		return "" // of malformed messages, which no provider takes
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (m ProviderModel) zone() *time.Location {
	if m.Zone == nil {
		return time.UTC
	}
	return m.Zone
}
