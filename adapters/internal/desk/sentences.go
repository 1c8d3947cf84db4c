package desk

import (
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// Why a press, or a form, does nothing. A decided approval's is doc.Standing, and those of the store's own rules are core's: core.ErrChanged,
// and what core.Card's Check returns.
var (
	ErrNotOurs      = core.Errorf(core.Invalid, "This button or form is not valid any more, so nothing was done. Ask again, or tell an admin.")
	ErrOtherVersion = core.Errorf(core.Invalid, "This button or form belongs to another version of gatehouse, so nothing was done. Ask again.")
	ErrUnknown      = core.Errorf(core.NotFound, "This approval is not known any more, so nothing was done.")
	ErrMisfit       = core.Errorf(core.Invalid, "This button does not fit the card any more, so nothing was done.")
	ErrNoEdit       = core.Errorf(core.Invalid, doc.NoEdit)
	ErrNotTyped     = core.Errorf(core.Invalid, "You did not type "+doc.ConfirmWord+", so nothing was decided.")
	ErrUnread       = core.Errorf(core.StoreBusy, "This could not be looked up, so nothing was decided. Press again.")
	ErrUnstored     = core.Errorf(core.StoreBusy, "Your press could not be stored, so nothing was done. Press again.")
	ErrUnopened     = core.Errorf(core.StoreBusy, "This could not be opened, so nothing was decided. Press again.")
)

// noAnswer begins the sentence about an answer that does not fit; what is wrong follows.
const noAnswer = "That is no answer to this question: "
