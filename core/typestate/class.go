package typestate

// Class is a machine-readable reason why a gate is closed (§8).
type Class string

// The classes of the contract.
const (
	SchemaInvalid          Class = "tool.schema_invalid" // an error row without a complete typed envelope
	ResultMissing          Class = "tool.result_missing"
	ResultOrphan           Class = "tool.result_orphan"
	UseMissing             Class = "tool.use_missing"
	UseWithoutResult       Class = "tool.use_without_result"
	JoinIncomplete         Class = "tool.join_incomplete"
	TruncationViolation    Class = "tool.response_truncation_policy_violation"
	StopReasonUnhandled    Class = "protocol.stop_reason_unhandled"
	TransportOrderInvalid  Class = "protocol.parallel_transport_order_invalid"
	InjectionPointMissing  Class = "context.injection_point_missing" // or no state view
	QueuePolicyViolation   Class = "context.queue_policy_violation"
	DecompositionViolation Class = "coordination.decomposition_policy_violation"
	ArtifactMissing        Class = "handoff.required_artifact_missing"
	TargetNotAllowed       Class = "handoff.target_not_allowed"
	ReturnPathMissing      Class = "handoff.return_path_missing"
	EvidenceMissing        Class = "mutation.use_evidence_missing" // never from a join check
)

// The classes of a claimed governance profile.
const (
	ClaimIDInvalid  Class = "governance.claim_id_invalid"
	PackageUnpinned Class = "governance.policy_package_unpinned"
	PackageMismatch Class = "governance.policy_package_mismatch"
)

// Classes that the contract's minimum does not have and its rules need; only MutationReady gives them.
const (
	// the turn is bound to another mutation policy than the active one
	PolicyMismatch    Class = "mutation.policy_digest_mismatch"
	ActionModeInvalid Class = "protocol.action_mode_invalid" // not code, json or text, or free text without an adapter
)
