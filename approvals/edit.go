package approvals

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/strictjson"
	"gatehouse/core/tool"
)

// Editing is what a service needs so that approvers can change the arguments of a call.
type Editing struct {
	Tools  Tools
	Policy Policy
}

// Tools are the tools that there are.
type Tools interface {
	// Bind checks a call's arguments and returns what its approval is bound to.
	Bind(call core.ToolCall) (core.Call, error)
}

// Policy is the policy in force.
type Policy interface {
	Rule(turn core.Turn, call core.Call) core.Rule
}

// LetEdit makes a service accept changed arguments, where the rule of a request allows them. It returns the service.
func (s *Service) LetEdit(e Editing) *Service {
	s.editing = e
	return s
}

// CheckEdit is why arguments can't take the place of those of an approval's call, for the person who typed them; nil if
// they can. Nothing is stored. Errors: those of a change, and not_found; core.ArgumentFaults are in the chain if it is
// single arguments.
func (s *Service) CheckEdit(ctx context.Context, id core.ApprovalID, arguments string) error {
	a, err := s.store.LoadApproval(ctx, id)
	if err == nil {
		_, err = s.changed(a, json.RawMessage(arguments))
	}
	return err
}

// maxChanged is the limit of changed arguments in bytes.
const maxChanged = 64 << 10

// changed returns the call of an approval with other arguments. They must be valid for the tool, and today's policy
// must say the same of both calls: otherwise who may approve one could approve another that is not theirs to decide.
// Errors: invalid, unsupported, with a message for the person.
func (s *Service) changed(a core.Approval, arguments json.RawMessage) (core.Call, error) {
	if s.editing.Tools == nil {
		return core.Call{}, core.Errorf(core.Unsupported, "Arguments can't be changed here.")
	}
	if a.Call.Hidden() > 0 {
		return core.Call{}, core.Errorf(core.Invalid, "Arguments that are partly masked can't be changed: the masks "+
			"would take the place of the secrets.")
	}
	arguments = bytes.TrimSpace(arguments)
	v, err := strictjson.Parse(arguments)
	switch {
	case len(arguments) > maxChanged:
		return core.Call{}, core.Errorf(core.Invalid, "The arguments must have at most %d bytes, so nothing was "+
			"changed.", maxChanged)
	case err != nil:
		return core.Call{}, core.Errorf(core.Invalid, "The arguments must be a JSON object, so nothing was changed. "+
			"In %s.", mask.Text(err.Error()))
	case v.Kind != strictjson.Object:
		return core.Call{}, core.Errorf(core.Invalid, "The arguments must be a JSON object, in braces, so nothing "+
			"was changed.")
	}
	call, err := s.rebound(a, arguments)
	if err != nil {
		return core.Call{},
			core.Wrap(core.Invalid, err, "%s. Nothing was changed.", strings.TrimSuffix(core.MessageOf(err), "."))
	}
	if call.Digest == a.Call.Digest {
		return core.Call{}, core.Errorf(core.Invalid, "These are the present arguments, so nothing was changed.")
	}
	turn := core.Turn{Conversation: a.Conversation, Address: a.Address, Actor: a.Requester}
	if before, after := s.editing.Policy.Rule(turn, a.Call), s.editing.Policy.Rule(turn, call); !before.Same(after) {
		return core.Call{}, core.Errorf(core.Invalid, "With these arguments another rule of the policy applies%s, so "+
			"nothing was changed. Deny this request, and have it asked for anew.", named(after))
	}
	return call, nil
}

// rebound is the call of an approval, bound to other arguments. What another agent requested has no tool here: its
// words stay as they are.
func (s *Service) rebound(a core.Approval, arguments json.RawMessage) (call core.Call, err error) {
	if a.External != nil {
		call = a.Call
		call.Arguments = arguments
		call.Digest, err = tool.Digest(call.Tool, arguments)
		return call, err
	}
	call, err = s.editing.Tools.Bind(core.ToolCall{ID: a.Call.CallID, Name: a.Call.Tool, Arguments: arguments})
	call.Bound = a.Call.Bound
	return call, err
}

func named(r core.Rule) string {
	if r.Name == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", r.Name)
}
