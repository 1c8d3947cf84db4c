package core

import (
	"context"
	"errors"
)

// Category is the spec's word for a kind of error; ours follow the same form.
type Category string

// Bucket groups errors by what a person can do about them (harness §7, harness-chat §10).
type Bucket string

// The three buckets.
const (
	SessionTerminating Bucket = "session_terminating" // the conversation can't continue; start a new one
	RetryableTransient Bucket = "retryable_transient" // the same request may succeed later
	UserCorrectable    Bucket = "user_correctable"    // the same request will fail again; change something
)

// Categories of the specs, in the order of the digest's table.
const (
	SessionLoadFailed            Category = "session_load_failed"
	SessionSaveFailed            Category = "session_save_failed"
	SessionWriteConflict         Category = "session_write_conflict"
	MigrationChainAmbiguous      Category = "session_state_migration_chain_ambiguous"
	MigrationMissing             Category = "session_state_migration_missing"
	MigrationFailed              Category = "session_state_migration_failed"
	SuspensionPersistenceFailed  Category = "suspension_persistence_failed"
	SuspensionRecordInvalid      Category = "suspension_record_invalid"
	SuspensionPayloadInvalid     Category = "suspension_resume_payload_invalid"
	SuspensionUnsupportedContext Category = "suspension_in_unsupported_context"
	HarnessSessionUnresolved     Category = "harness_session_id_unresolved"
	HarnessSubscriptionFailed    Category = "harness_signal_subscription_failed"
	HarnessCorrelationFailed     Category = "harness_signal_correlation_failed"
	HarnessPathAmbiguous         Category = "harness_path_classification_ambiguous"
	ChatMessageShapeInvalid      Category = "chat_message_shape_invalid"
	ProviderUnavailable          Category = "provider_unavailable"
	// an alias: harness-chat §10.2 names it, llm-provider does not
	ProviderTimeout             Category = "provider_timeout"
	ProviderRateLimit           Category = "provider_rate_limit"
	ProviderRateLimited         Category = "provider_rate_limited" // an alias, likewise
	ProviderModelNotLoaded      Category = "provider_model_not_loaded"
	ProviderInvalidRequest      Category = "provider_invalid_request"
	ProviderInvalidResponse     Category = "provider_invalid_response"
	ProviderAuthentication      Category = "provider_authentication"
	ProviderInvalidModel        Category = "provider_invalid_model"
	ProviderUnsupportedContent  Category = "provider_unsupported_content_block"
	StructuredOutputInvalid     Category = "structured_output_invalid"
	PromptNotFound              Category = "prompt_not_found"
	PromptStoreUnavailable      Category = "prompt_store_unavailable"
	PromptRenderError           Category = "prompt_render_error"
	NodeException               Category = "node_exception"
	EdgeException               Category = "edge_exception"
	ReducerError                Category = "reducer_error"
	RoutingError                Category = "routing_error"
	StateValidationError        Category = "state_validation_error"
	NoDeclaredEntry             Category = "no_declared_entry"
	UnreachableNode             Category = "unreachable_node"
	DanglingEdge                Category = "dangling_edge"
	MultipleOutgoingEdges       Category = "multiple_outgoing_edges"
	ConflictingReducers         Category = "conflicting_reducers"
	MappingUndeclaredField      Category = "mapping_references_undeclared_field"
	ConflictingProjectionForms  Category = "conflicting_projection_forms"
	ReducerConfigurationInvalid Category = "reducer_configuration_invalid"
	FanOutEmpty                 Category = "fan_out_empty"
)

// Categories of our own.
const (
	Internal  Category = "internal"   // no category was given: a fault of ours
	StoreBusy Category = "store_busy" // another process locks the database
	StoreFull Category = "store_full" // the database's disk is full
	// the file is not a gatehouse database, is damaged, or is not readable
	StoreUnreadable Category = "store_unreadable"
	// the file that was opened is not there any more, or not its log: nothing can be stored
	StoreGone  Category = "store_gone"
	StoreNewer Category = "store_newer" // a newer gatehouse wrote this database
	// another process holds the conversation; this turn stores nothing
	ClaimLost       Category = "lease_lost"
	NotFound        Category = "not_found"         // no such session, turn, approval, post
	Invalid         Category = "invalid"           // an argument or a setting has the wrong form
	RateLimited     Category = "rate_limited"      // above the limits of one person
	MessageTooLarge Category = "message_too_large" // above GATEHOUSE_MAX_MESSAGE
	Stopped         Category = "stopped"           // a person stopped the turn
	// the turn needed more rounds, calls, tokens or time than one may take
	LimitReached    Category = "limit_reached"
	NotAllowed      Category = "not_allowed"      // this person may not do that
	PolicyDenied    Category = "policy_denied"    // the approval policy refuses this call to everybody
	ApprovalMissing Category = "approval_missing" // the executor got a mutating call without an approved approval
	// the approval is for another tool, other arguments, or another turn
	ApprovalMismatch Category = "approval_mismatch"
	ApprovalStale    Category = "approval_stale"     // the rules changed after the approval was requested
	ApprovalDecided  Category = "approval_decided"   // a second decision: the first one counts
	ApprovalExpired  Category = "approval_expired"   // the deadline passed before a decision
	ApprovalDenied   Category = "approval_denied"    // an approver denied it
	ApprovalCanceled Category = "approval_cancelled" // withdrawn by the requester, or by a new conversation
	// a tool was started and its result was not recorded; it is not run again
	OutcomeUnknown Category = "outcome_unknown"
	ToolFailed     Category = "tool_failed"     // the tool ran and reported a failure
	ToolUnknown    Category = "tool_unknown"    // no tool of that name
	ToolArguments  Category = "tool_arguments"  // the arguments do not fit the tool
	ScriptFailed   Category = "script_failed"   // the script that is the agent can't go on: the message says why
	Unsupported    Category = "unsupported"     // this platform can't do that
	Unauthorized   Category = "unauthorized"    // a platform refuses our token
	DeliveryFailed Category = "delivery_failed" // a platform refused a post permanently
	ContentRefused Category = "content_refused" // a platform refuses a post for what it says
	// a platform refuses a post until an admin fixes something there: a permission, an invitation
	DeliveryForbidden Category = "delivery_forbidden"
	DeliveryInDoubt   Category = "delivery_in_doubt" // the response to a send was lost: the post may have arrived
	DeliveryLater     Category = "delivery_later"    // a platform asked to wait, or is unreachable
	// nothing was sent: our own rate limit of the platform asks to wait
	DeliveryNotYet Category = "delivery_not_yet"
)

// Reasons: narrower than the provider's category that the spec gives an error (see Error.Reason).
const (
	ConversationTooLong Category = "conversation_too_long" // provider_invalid_request: more tokens than the model takes
	AnswerDeclined      Category = "answer_declined"       // provider_invalid_request: the model refuses to answer
	// provider_invalid_response: the answer reached its limit of tokens
	AnswerCutOff Category = "answer_cut_off"
	// provider_invalid_response: the model wrote a call that its own server can't read
	AnswerGarbled Category = "answer_garbled"
	ModelBusy     Category = "model_busy" // provider_unavailable: no place for a call became free in time
	// any: the account has no money or tokens left, so that waiting helps nobody
	QuotaUsedUp Category = "quota_used_up"
	// provider_unavailable: the answer has nothing in it, also when asked again
	AnswerEmpty       Category = "answer_empty"
	RestRefused       Category = "rest_refused"       // content_refused: the first parts of the post have arrived
	ModerationRefused Category = "moderation_refused" // content_refused: by the rules of the people who run the place
	LinkRefused       Category = "link_refused"       // content_refused: by a filter of links
)

// buckets is harness §7 and harness-chat §10 in one table. What they do not assign was chosen for these reasons:
//
//   - session_save_failed is terminating, as in harness-chat; harness §7.2's "if transient" is met by dispatch, which
//     retries the whole turn when the database is busy, before this category is ever given.
//   - a resume that can't be matched (suspension_record_invalid, harness_signal_correlation_failed) is correctable: the
//     conversation is intact, and the person asks again.
//   - provider errors that a retry can't fix (invalid_model, unsupported_content_block, structured_output_invalid) are
//     correctable by the person or by the admin that the diagnostic names.
//   - a prompt that is not there, or can't be rendered, is correctable by the admin that the diagnostic names; a store
//     of prompts that can't be reached may come back (prompt-management §11 says which of them are transient).
//   - a write conflict is retryable: the second attempt reads the version that the first one conflicted with.
//   - an uncategorised error of the engine or of a node is retryable, with a reply that shows nothing of it, and is
//     logged.
//   - a state that does not match its schema is terminating, as in harness §7.1: the next turn would load the same
//     state.
//   - a database that can't be read, or that a newer gatehouse has changed, is retryable: the conversation is intact
//     once an admin has mended it, and a new one would be in the same database.
var buckets = map[Category]Bucket{
	SessionLoadFailed: SessionTerminating, SessionSaveFailed: SessionTerminating,
	MigrationChainAmbiguous: SessionTerminating,
	MigrationMissing:        SessionTerminating, MigrationFailed: SessionTerminating,
	SuspensionPersistenceFailed: SessionTerminating,
	HarnessSessionUnresolved:    SessionTerminating,

	ProviderUnavailable: RetryableTransient, ProviderTimeout: RetryableTransient, ProviderRateLimit: RetryableTransient,
	ProviderRateLimited: RetryableTransient, ProviderModelNotLoaded: RetryableTransient,
	HarnessSubscriptionFailed: RetryableTransient,
	SessionWriteConflict:      RetryableTransient, StoreBusy: RetryableTransient, StoreFull: RetryableTransient,
	StoreUnreadable: RetryableTransient, StoreGone: RetryableTransient, StoreNewer: RetryableTransient,
	NodeException: RetryableTransient, EdgeException: RetryableTransient, ReducerError: RetryableTransient,
	RoutingError: RetryableTransient, StateValidationError: SessionTerminating, FanOutEmpty: RetryableTransient,
	SuspensionUnsupportedContext: RetryableTransient, ClaimLost: RetryableTransient, Internal: RetryableTransient,
	DeliveryLater: RetryableTransient, DeliveryNotYet: RetryableTransient, PromptStoreUnavailable: RetryableTransient,

	ProviderInvalidRequest: UserCorrectable, ProviderInvalidResponse: UserCorrectable,
	ChatMessageShapeInvalid: UserCorrectable,
	ProviderAuthentication:  UserCorrectable, SuspensionPayloadInvalid: UserCorrectable,
	SuspensionRecordInvalid:  UserCorrectable,
	HarnessCorrelationFailed: UserCorrectable, HarnessPathAmbiguous: UserCorrectable,
	ProviderInvalidModel:       UserCorrectable,
	ProviderUnsupportedContent: UserCorrectable, StructuredOutputInvalid: UserCorrectable,
	MessageTooLarge: UserCorrectable, RateLimited: UserCorrectable,
	PromptNotFound: UserCorrectable, PromptRenderError: UserCorrectable,
	ConversationTooLong: UserCorrectable, AnswerDeclined: UserCorrectable, AnswerCutOff: UserCorrectable,
	AnswerGarbled: UserCorrectable, ModelBusy: RetryableTransient, QuotaUsedUp: UserCorrectable,
	AnswerEmpty: RetryableTransient, ContentRefused: UserCorrectable, RestRefused: UserCorrectable,
	ModerationRefused: UserCorrectable, LinkRefused: UserCorrectable,
	NotFound: UserCorrectable, Invalid: UserCorrectable, NotAllowed: UserCorrectable, PolicyDenied: UserCorrectable,
	ApprovalMissing: UserCorrectable, ApprovalMismatch: UserCorrectable, ApprovalStale: UserCorrectable,
	ApprovalDecided: UserCorrectable,
	ApprovalExpired: UserCorrectable, ApprovalDenied: UserCorrectable, ApprovalCanceled: UserCorrectable,
	OutcomeUnknown: UserCorrectable, ToolFailed: UserCorrectable, ToolUnknown: UserCorrectable,
	ToolArguments: UserCorrectable,
	Stopped:       UserCorrectable, LimitReached: UserCorrectable, ScriptFailed: UserCorrectable,
	Unsupported: UserCorrectable, Unauthorized: UserCorrectable, DeliveryFailed: UserCorrectable,
	DeliveryForbidden: UserCorrectable, DeliveryInDoubt: UserCorrectable,
}

// BucketOf returns a category's bucket; an unknown category is retryable, like any internal error.
func BucketOf(c Category) Bucket {
	if b, ok := buckets[c]; ok {
		return b
	}
	return RetryableTransient
}

// IsProviderOutage reports whether a category says that a provider does not answer now, which may pass by itself
// (llm-provider §7).
func IsProviderOutage(c Category) bool {
	switch c {
	case ProviderUnavailable, ProviderRateLimit, ProviderModelNotLoaded, ProviderTimeout, ProviderRateLimited:
		return true
	}
	return false
}

// IsStoreFailure reports whether the database could not do what was asked, though nothing was wrong with it: it is
// busy, full, slow, not reachable, gone, or its disk fails. The same call may succeed later.
func IsStoreFailure(err error) bool {
	switch CategoryOf(err) {
	case StoreBusy, StoreFull, StoreUnreadable, StoreGone:
		return true
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// IsTemporary reports whether a call to a platform failed for a reason that may pass: the same call may succeed later,
// unchanged. A refused token is one, since an admin replaces it.
func IsTemporary(err error) bool {
	switch CategoryOf(err) {
	case DeliveryLater, DeliveryNotYet, DeliveryInDoubt, Unauthorized:
		return true
	}
	return false
}
