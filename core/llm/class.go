package llm

import "gatehouse/core"

// Class is who can do something about an error of a call, beside its person.
type Class string

// The classes. What is in none of them is the person's to change.
const (
	OfPerson   Class = ""
	AskAgain   Class = "ask again"      // the same model may answer the same request later
	AskAnother Class = "ask another"    // another model may answer it
	TellAdmin  Class = "tell the admin" // another model may, and whoever runs the bot has something to mend
)

// ClassOf is the class of a provider's error (llm-provider §7), by its category, or by its reason where that is
// narrower.
func ClassOf(err error) Class {
	switch core.ReasonOf(err) {
	case core.QuotaUsedUp:
		return TellAdmin
	case core.AnswerGarbled:
		return AskAgain
	case core.ConversationTooLong, core.ModelBusy:
		return AskAnother
	case core.AnswerDeclined:
		return OfPerson
	}
	switch core.CategoryOf(err) {
	case core.ProviderUnavailable, core.ProviderRateLimit, core.ProviderModelNotLoaded:
		return AskAgain
	case core.ProviderUnsupportedContent, core.ProviderInvalidResponse:
		return AskAnother
	case core.ProviderAuthentication, core.ProviderInvalidModel, core.ProviderInvalidRequest:
		return TellAdmin
	}
	return OfPerson
}
