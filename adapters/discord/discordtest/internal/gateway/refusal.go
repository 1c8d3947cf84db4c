package gateway

import "fmt"

// Refusal is how the gateway answers an identify or a resume instead of taking it.
type Refusal struct {
	Silent  bool // with nothing
	Invalid bool // with op 9, true: the session is invalid, and may be resumed
	Code    int  // else with this close code; 0: it breaks the connection without one
	Times   int  // how many; 0: all
}

// RefuseResumes refuses resumes from now on; the zero Refusal breaks each connection. Sessions stay as they are.
func (g *Gateway) RefuseResumes(how Refusal) { g.change(func() { g.refusals[opResume] = &how }) }

// RefuseIdentifies refuses identifies from now on. They count against the budget.
func (g *Gateway) RefuseIdentifies(how Refusal) { g.change(func() { g.refusals[opIdentify] = &how }) }

// TakeAll ends RefuseResumes and RefuseIdentifies.
func (g *Gateway) TakeAll() { g.change(func() { clear(g.refusals) }) }

// refuses answers an identify or a resume that is refused; why is "" if it is not. The caller holds the lock.
func (c *Connection) refuses(op int) (why string) {
	how := c.g.refusals[op]
	if how == nil {
		return ""
	}
	if how.Times--; how.Times == 0 {
		delete(c.g.refusals, op)
	}
	switch {
	case how.Silent:
		c.silent = true
		return "silence"
	case how.Invalid:
		c.enqueue(opFrame(opInvalidSession, true))
		return "op 9"
	case how.Code > 0:
		c.closeWith(how.Code, "Refused.")
		return fmt.Sprint(how.Code)
	}
	c.drop("reset", 0)
	return "reset"
}
