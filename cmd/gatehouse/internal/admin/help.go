package admin

import "gatehouse/cmd/gatehouse/internal/cli"

// Help are the longer help texts, by the names that the tags of flags have for them.
var Help = cli.Texts{
	"approvals_edit":       "Change the arguments of an open approval as the local admin, where its rule allows that.",
	"approvals_test":       "Compare what the policy says of a table of calls with what is expected.",
	"approvals_list_state": "Only approvals in these states: open, approved, denied, answered, expired, cancelled.",
	"approvals_show_reveal": "Show the arguments, or the question and its answer, without masks. The audit log " +
		"records who did.",
	"approvals_log_verify": "Check that no entry was changed, inserted or removed, and that the log agrees with the " +
		"approvals in the database; exit with 1 if not. Prints the last hash: keep it elsewhere.",
	"approvals_log_expect": "Verify, and exit with 1 unless the log has an entry with this hash, such as the last " +
		"hash of an earlier check, or is that of a head that --head printed.",
	"approvals_log_head": "Print the sealed head of the log as one line of JSON. Keep it elsewhere, and give it to " +
		"--expect later.",
	"approvals_log_database_key": "Accept entries that were signed with the key in the database, up to the first one " +
		"that was signed with GATEHOUSE_SECRET_KEY.",
	"dead_letters_list": "List turns that failed for good, and posts that were refused or may not have arrived.",
	"decision_as": "The name that people read as the decider; the audit log records the local admin, with this name " +
		"and the user of the operating system.",
	"approvals_approve_digest": "The digest of the call, as gatehouse approvals show prints it. A call that has " +
		"another one by now, because an approver changed its arguments, is not approved.",
	"edit_args": "The arguments that take the place of the present ones: a JSON object.",
	"edit_as": "The name that people read; the audit log records the local admin, with this name and the user of the " +
		"operating system.",
	"explain_all": "Explain every tool, those of MCP servers among them, in place of one call. Without --args, what " +
		"depends on the arguments is told; without --as, the local person asks.",
	"explain_risk": "The tool's risk: read, write or destructive. Not given: that of the built-in tool, and " +
		"destructive for others.",
	"explain_group":       "A group or role of the platform that the requester is in; may be repeated.",
	"explain_by_group":    "A group or role of the platform that the decider is in; may be repeated.",
	"mutation_input":      "The mutation and its evidence, as JSON: mutation, joinCheckInput, joinGate.",
	"mutation_normalizer": "A normalizerId that may make calls from free text; may be repeated.",
	"verify_keys": "The public keys, as the gateway publishes them at /.well-known/gatehouse.json. Not given: those " +
		"of this installation.",
	"verify_arguments": "Check also that the proof is of the arguments in this file, a JSON value.",
	"approvals_answer_answer": "The answer in JSON: a value such as '\"blue\"', 3 or true or, to a form, an object " +
		"such as '{\"size\":\"m\"}'.",
	"approvals_answer_as": "The name that people read as who answered; the audit log records the local admin, with " +
		"this name and the user of the operating system.",
	"approvals_approve": "Approve as the local admin, which is enough at once, whatever quorum the rule asks for.",
	"approvals_deny":    "Deny as the local admin, which is enough at once.",
	"turns_id":          "A turn's number or invocation id, or the beginning or end of one id alone.",
	"dead_letters_id": "A turn's number, post:NUMBER for a post, or a turn's invocation id, or the beginning or " +
		"end of one id alone.",
	"sessions_id": "A session id, or a conversation id for its latest session, or the beginning or end of one id " +
		"alone.",
	"sessions_delete_id": "A session id, or the beginning or end of one id alone.",
	"sessions_delete":    "Delete a session, its messages and its paused turns, and erase its texts everywhere else.",
}
