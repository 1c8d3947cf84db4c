package hrf

import (
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// envelope reads the root. What it returns is complete only if the report has no errors.
func (r *reader) envelope(root *node) *Envelope {
	if root.Kind != strictjson.Object {
		r.fail(root, envelopeType, `write {"HRFVersion": "1.0", "messages": […]}`,
			"an envelope must be an object, not %s", article(root.Kind))
		return nil
	}
	o := object{
		r, root, "the envelope", []string{"HRFVersion", "messages"}, envelopeUnknown, envelopeMissing, envelopeType,
	}
	e := &Envelope{Version: r.version(&o)}
	o.checkNames()
	messages := o.required("messages", strictjson.Array)
	if messages == nil {
		return e
	}
	if len(messages.Items) == 0 {
		r.fail(messages, envelopeEmpty, "", "messages must not be empty")
	}
	for i := range messages.Items {
		r.message(e, messages.item(i))
	}
	return e
}

// otherVersion is how later versions of the reference spell HRFVersion.
const otherVersion = "hrfVersion"

// version reads HRFVersion. A misspelt one is reported as the version that is missing, not as an unknown property too.
func (r *reader) version(o *object) string {
	n := o.get("HRFVersion")
	if n == nil {
		i := slices.IndexFunc(o.Members, func(m strictjson.Member) bool {
			return likeness(m.Key) == likeness(otherVersion)
		})
		switch {
		case i < 0 && r.compat:
			r.warn(o.node, compatVersion, "", "the envelope lacks HRFVersion, which the strict profile requires")
			return ""
		case i < 0:
			r.fail(o.node, envelopeVersion, `write "HRFVersion": "1.0"`, "the envelope lacks HRFVersion")
			return ""
		}
		written := o.Members[i]
		o.names = append(o.names, written.Key)
		if !r.compat || written.Key != otherVersion {
			r.failAt(o.keyPlace(written), envelopeVersion, "did you mean HRFVersion?",
				"the envelope lacks HRFVersion; it has %s", quote(written.Key))
			return ""
		}
		n = o.member(written)
		r.warn(n, compatName, "", "the strict profile spells %s HRFVersion", otherVersion)
	}
	if o.ofKind(n, n.step, strictjson.String) == nil {
		return ""
	}
	if isBlank(n.String) {
		r.fail(n, envelopeVersion, `write "1.0"`, "HRFVersion must not be blank")
	}
	return n.String
}

var messageNames = []string{"role", "channel", "recipient", "contentType", "content", "termination"}

// otherContentType is how the first versions of the reference spell contentType.
const otherContentType = "content_type"

// message reads one message into an envelope.
func (r *reader) message(e *Envelope, n *node) {
	if n.Kind != strictjson.Object {
		r.fail(n, messageType, "", "a message must be an object, not %s", article(n.Kind))
		return
	}
	o := object{r, n, "the message", messageNames, messageUnknown, messageMissing, messageType}
	contentType := "contentType"
	if r.compat && n.get(contentType) == nil && n.get(otherContentType) != nil {
		contentType = otherContentType
		o.names = append(slices.Clone(messageNames), otherContentType)
		r.warn(n.get(otherContentType), compatName, "", "the strict profile spells %s contentType", otherContentType)
	}
	o.checkNames()
	m := Message{Place: n.place()}
	m.Role = r.role(o.required("role", strictjson.String))
	m.Channel = r.channel(o, m.Role)
	if recipient := o.nullable("recipient"); recipient != nil {
		m.Recipient = recipient.String
		if isBlank(recipient.String) {
			r.fail(recipient, messageRecipient, "leave it out", "recipient must not be blank")
		}
	}
	m.Termination = r.termination(o, m.Role)
	if content := n.get("content"); content != nil {
		m.Content = content.Value
		m.ContentType = r.content(e, m.Role, o, contentType, content)
	} else if !o.misspelt("content") {
		r.fail(n, messageMissing, "", "the message lacks content")
	}
	e.Messages = append(e.Messages, m)
}

var roles = []string{System, User, Assistant}

// developer is a role of later versions of the reference; its messages may have scripts.
const developer = "developer"

// otherRoles are the roles of later versions of the reference, and what the profile has instead.
var otherRoles = map[string]string{developer: System, "tool": "functions.NAME"}

// role checks a role. An invalid one is returned as "", so that no other rule reports it again.
func (r *reader) role(n *node) string {
	if n == nil {
		return ""
	}
	name, isFunction := strings.CutPrefix(n.String, Functions)
	instead, isOther := otherRoles[n.String]
	switch {
	case slices.Contains(roles, n.String), isFunction && !isBlank(name):
		return n.String
	case isOther && r.compat:
		r.warn(n, compatRole, "write "+instead, "the strict profile has no role %s", n.String)
		return n.String
	case isOther:
		r.fail(n, messageRole, "write "+instead+"; the profile compat accepts it", "unknown role %s", quote(n.String))
	case isFunction || n.String == strings.TrimSuffix(Functions, "."):
		r.fail(n, messageRole, "write functions.NAME", "the role %s does not name a function", quote(n.String))
	default:
		r.fail(n, messageRole, suggest(n.String, roles, "write system, user, assistant or functions.NAME"),
			"unknown role %s", quote(n.String))
	}
	return ""
}

var channels = []string{Analysis, Commentary, Final}

func (r *reader) channel(o object, role string) string {
	n := o.nullable("channel")
	switch {
	case n == nil && role == Assistant && o.absent("channel"):
		r.fail(o.node, messageChannel, oneOf(channels), "an assistant message needs a channel")
	case n != nil && !slices.Contains(channels, n.String):
		r.fail(n, messageChannel, suggest(n.String, channels, oneOf(channels)), "unknown channel %s", quote(n.String))
	case n != nil:
		return n.String
	}
	return ""
}

var terminations = []string{End, Return, Call}

func (r *reader) termination(o object, role string) string {
	n := o.nullable("termination")
	switch {
	case n == nil:
		return ""
	case !slices.Contains(terminations, n.String):
		r.fail(n, messageTermination, suggest(n.String, terminations, oneOf(terminations)),
			"unknown termination %s", quote(n.String))
	case role != Assistant && role != "":
		r.fail(n, messageTerminationRole, "remove it",
			"only assistant messages may have a termination, not those of role %s", role)
	default:
		r.terminations = append(r.terminations, n)
		if len(r.terminations) > 1 {
			r.warn(n, terminationSeveral, "", "more than one message has a termination")
		}
		return n.String
	}
	return ""
}

var contentTypes = []string{JSONContent, ScriptType}

// otherText is how later versions of the reference mark plain text.
const otherText = "text"

// content checks content by its contentType, the member of the message that key names. It returns the contentType.
func (r *reader) content(e *Envelope, role string, o object, key string, content *node) string {
	n := o.nullable(key)
	switch {
	case n == nil && !o.absent(key): // what is wrong with it is reported
		return ""
	case n != nil && n.String == otherText && r.compat:
		r.warn(n, compatText, "", "the strict profile has no contentType %s; plain text has none", otherText)
		n = nil
	case n != nil && n.String == otherText:
		r.fail(n, messageContentType, "leave contentType out for plain text; the profile compat accepts it",
			"unknown contentType %s", quote(n.String))
		return ""
	case n != nil && !slices.Contains(contentTypes, n.String):
		r.fail(n, messageContentType,
			suggest(n.String, contentTypes, oneOf(contentTypes)+"; leave it out for plain text"),
			"unknown contentType %s", quote(n.String))
		return ""
	}
	if n == nil {
		if content.Kind != strictjson.String {
			r.fail(content, messageText, `write "contentType": "json" for other values`,
				"plain text must be a string, not %s", article(content.Kind))
		}
		return ""
	}
	if n.String == ScriptType {
		r.scriptOf(e, role, content)
	}
	return n.String
}
