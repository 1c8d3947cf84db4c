package wire

import "gatehouse/core/strictjson"

// The capabilities that a request may ask for and this engine knows.
const (
	Streaming = "openharness.streaming"
	Parallel  = "openharness.actions.parallel"
	Upload    = "openharness.attachments.upload"
	RichCards = "openharness.ui.rich_cards"
	Approval  = "openharness.ui.approval"
)

// EventsSSE is the capability that tells Shells where they can read later replies as server-sent events.
const EventsSSE = Namespace + ".events.sse"

const eventsPath = "/v1/openharness/events"

// known lists the capabilities of the protocol in its order, and why one is denied; "" if it is not.
var known = []struct{ id, denied string }{
	{
		Streaming, "This engine doesn't stream responses. Replies that come later can be read as server-sent events: " +
			"see " + EventsSSE + ".",
	},
	{Parallel, "This engine sends directives that are worked off in their order."},
	{Upload, ""},
	{RichCards, "This engine sends text and approvals, and no rich cards."},
	{Approval, ""},
}

// asked gives the known capabilities that are asked for.
func (p part) asked() (ids []string) {
	for _, c := range known {
		v := p.v.Get(c.id)
		if v == nil {
			continue
		}
		switch v.Kind {
		case strictjson.Bool, strictjson.String, strictjson.Object:
		default:
			p.refuse(p.at(c.id), "The capability %s must be a boolean, a string or an object.", c.id)
		}
		if v.Bool || v.String != "" || v.Kind == strictjson.Object {
			ids = append(ids, c.id)
		}
	}
	return ids
}

// Denial tells a Shell that what it asked for is not to be had.
type Denial struct {
	Capability string `json:"capability"`
	Code       string `json:"code,omitempty"`
	Message    string `json:"message,omitempty"`
}

// Denials are the capabilities that were asked for and are not supported.
func (r Request) Denials() (denials []Denial) {
	for _, id := range r.Asked {
		for _, c := range known {
			if c.id == id && c.denied != "" {
				denials = append(denials, Denial{Capability: id, Code: "not_supported", Message: c.denied})
			}
		}
	}
	return denials
}
