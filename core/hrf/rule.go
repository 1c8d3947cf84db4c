package hrf

// rule is one rule of the profile: its name, and the layer of its faults (HRF §4 and §5.3). Where the text of HRF
// leaves the layer open, the shape of the JSON comes before its meaning.
type rule struct {
	name string
	code Code
}

// The rules of the text and of the shape of envelope and messages.
var (
	textSyntax             = rule{"text.syntax", EnvelopeFailed}
	textTrailing           = rule{"text.trailing", EnvelopeFailed}
	textEncoding           = rule{"text.encoding", EnvelopeFailed}
	textDepth              = rule{"text.depth", EnvelopeFailed}
	textValues             = rule{"text.values", EnvelopeFailed}
	textMark               = rule{"text.byte-order-mark", EnvelopeFailed}
	textDuplicate          = rule{"text.duplicate-key", EnvelopeFailed}
	envelopeType           = rule{"envelope.type", EnvelopeFailed}
	envelopeMissing        = rule{"envelope.missing", EnvelopeFailed}
	envelopeUnknown        = rule{"envelope.unknown-property", EnvelopeFailed}
	messageType            = rule{"message.type", EnvelopeFailed}
	messageMissing         = rule{"message.missing", EnvelopeFailed}
	messageUnknown         = rule{"message.unknown-property", EnvelopeFailed}
	messageTermination     = rule{"message.termination", EnvelopeFailed}
	envelopeVersion        = rule{"envelope.version", SemanticFailed}
	envelopeEmpty          = rule{"envelope.messages", SemanticFailed}
	messageRole            = rule{"message.role", SemanticFailed}
	messageChannel         = rule{"message.channel", SemanticFailed}
	messageRecipient       = rule{"message.recipient", SemanticFailed}
	messageContentType     = rule{"message.content-type", SemanticFailed}
	messageText            = rule{"message.text", SemanticFailed}
	messageTerminationRole = rule{"message.termination-role", SemanticFailed}
)

// The rules of scripts.
var (
	scriptType         = rule{"script.type", ScriptFailed}
	scriptMissing      = rule{"script.missing", ScriptFailed}
	scriptUnknown      = rule{"script.unknown-property", ScriptFailed}
	scriptEmpty        = rule{"script.steps", ScriptFailed}
	stepType           = rule{"step.type", ScriptFailed}
	stepMissing        = rule{"step.missing", ScriptFailed}
	stepUnknown        = rule{"step.unknown-property", ScriptFailed}
	stepKind           = rule{"step.kind", ScriptFailed}
	toolCallRecipient  = rule{"tool-call.recipient", ScriptFailed}
	toolCallChannel    = rule{"tool-call.channel", ScriptFailed}
	toolCallSaveAs     = rule{"tool-call.save-as", SemanticFailed}
	extractInputOutput = rule{"extract-input.output", SemanticFailed}
	ifCondition        = rule{"if.condition", SemanticFailed}
	messageStepChannel = rule{"assistant-message.channel", SemanticFailed}
	messageStepTexts   = rule{"assistant-message.content", SemanticFailed}
	expressionSyntax   = rule{"expression.syntax", ExecutionError}
)

// The rules of warnings.
var (
	compatMark         = rule{"compat.byte-order-mark", EnvelopeFailed}
	compatVersion      = rule{"compat.version", SemanticFailed}
	compatName         = rule{"compat.name", EnvelopeFailed}
	compatText         = rule{"compat.content-type", SemanticFailed}
	compatRole         = rule{"compat.role", SemanticFailed}
	compatScript       = rule{"compat.script-role", SemanticFailed}
	terminationSeveral = rule{"termination.several", SemanticFailed}
	terminationEarly   = rule{"termination.early", SemanticFailed}
	terminationCall    = rule{"termination.call", SemanticFailed}
	scriptIgnored      = rule{"script.ignored", SemanticFailed}
	varsExpression     = rule{"vars.expression", SemanticFailed}
	varsUnused         = rule{"vars.unused", SemanticFailed}
	varsUnset          = rule{"vars.unset", SemanticFailed} // an error with StrictVars
	varsEarly          = rule{"vars.read-before-set", SemanticFailed}
	stepUnreachable    = rule{"step.unreachable", SemanticFailed}
	finalReplaced      = rule{"final.replaced", SemanticFailed}
	templateUnknown    = rule{"template.placeholder", SemanticFailed}
	expressionBareword = rule{"expression.bareword", SemanticFailed}
)
