package hrf

import "gatehouse/core/strictjson"

// Profile is how strictly an envelope is read.
type Profile string

// The profiles.
const (
	Strict Profile = "strict" // what the text of HRF says, with exact names
	Compat Profile = "compat" // also what later versions of the reference write, each with a warning
)

// The words of messages (HRF §2).
const (
	System      = "system"
	User        = "user"
	Assistant   = "assistant"
	Functions   = "functions." // followed by a name
	Analysis    = "analysis"
	Commentary  = "commentary"
	Final       = "final"
	JSONContent = "json"
	ScriptType  = "harmony-script"
	End         = "end"
	Return      = "return"
	Call        = "call"
)

// Envelope is a valid envelope (HRF §1). It is read-only and safe for concurrent use.
type Envelope struct {
	Version  string
	Messages []Message
	Script   *Script // the one that is run; nil: there is none
}

// Message is one message (HRF §2). A string that is null or missing is "".
type Message struct {
	Place
	Role        string
	Channel     string
	Recipient   string
	ContentType string
	Content     *strictjson.Value
	Termination string
}

// Script is a workflow (HRF §3), its expressions compiled.
type Script struct {
	Vars  []Var // in the order of the text
	Steps []Step
}

// Var is a variable and its initial value, which is data.
type Var struct {
	Name  string
	Value any // as strictjson.Value.Any gives it
}
