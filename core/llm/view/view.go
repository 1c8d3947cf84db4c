package view

import (
	"context"
	"slices"

	"gatehouse/core"
)

// Options are what a view depends on beside the history.
type Options struct {
	System string // the system prompt; "" = none
	// whose thinking and signatures are shown, as Mark names it; "" = all stay marked, for a provider of Bind
	Provider string
	TextOnly bool       // the model takes no images
	Budget   int        // in tokens, for all messages; 0 = no limit
	Fill     int        // how much of the budget is filled once something does not fit; 0 = all of it
	Cut      bool       // something is left out where more than Fill is there, even if it fits
	Epoch    core.Epoch // what was shown before; the zero Epoch: nothing
	// shows what the epoch says, and what came since; or else what fits, and of the epoch only Began counts
	Sticky bool

	Earlier int // how many messages of the history are before the given ones; OfHistory sets it
}

// View is what a provider is shown.
type View struct {
	Messages []core.Message // stored images are still named by their digest: see core.Message.WithImages
	Tokens   int            // what Messages are estimated to take

	From  int   // the first row that is shown, as in core.Epoch
	Also  []int // and the exchanges before it
	Lacks bool  // a cut that sticks leaves out the call of a new result
	Noted bool  // the last message is a note that the conversation goes on
}

// Of gives the view of the last messages of a history. It keeps nothing of msgs that it changes. Errors:
// provider_invalid_request, if no message is a user's, or if the newest exchange alone is over the budget.
func Of(msgs []core.Message, o Options) (View, error) {
	return arrange(msgs, o).view()
}

// page is how many messages OfHistory reads at first.
const page = 64

// OfHistory gives the view of a history. It reads backwards, and stops when an exchange does not fit into the budget
// any more and the calls of all results of the exchanges that are always kept are found; without a budget it reads
// everything. A page is a quarter of what was read before it, so that no more than that is read in vain. Errors: as Of,
// and those of the history's source.
func OfHistory(ctx context.Context, h core.History, o Options) (View, error) {
	return ofHistory(ctx, h, o, page)
}

func ofHistory(ctx context.Context, h core.History, o Options, page int) (View, error) {
	var msgs []core.Message
	n := page
	switch {
	case o.Sticky:
		n = max(0, h.Len()-slices.Min(append([]int{o.Epoch.From}, o.Epoch.Also...)))
	case o.Budget <= 0:
		n = h.Len()
	}
	for {
		older, err := h.Page(ctx, len(msgs), n)
		if err != nil {
			return View{}, err
		}
		msgs = append(older, msgs...)
		o.Earlier = h.Len() - len(msgs)
		if len(older) == 0 {
			o.Earlier = 0
		}
		if l := arrange(msgs, o); o.Earlier == 0 || o.Sticky || l.enough() {
			return l.view()
		}
		n = max(page, len(msgs)/4)
	}
}
