package fakeserver

import (
	"fmt"
	"net/http"
	"time"
)

// Trouble is a way for a call to fail. The fakes have functions for those of their platform.
type Trouble struct {
	Name    string // as Call.Fault has it
	Status  int
	Header  map[string]string
	Body    string
	Wait    time.Duration // that a rate limit asks for
	Handled bool          // the call does its work first
	Cut     bool          // no answer, the connection is closed
	Hold    bool          // until Release
}

// Afterwards is the same trouble once the call has done its work.
func (t Trouble) Afterwards() Trouble {
	t.Handled = true
	return t
}

// ServerError answers a 5xx with a page of HTML.
func ServerError(status int) Trouble {
	return Trouble{Name: fmt.Sprint("HTTP ", status), Status: status, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<!DOCTYPE html><html><head><title>Server Error</title></head><body><h1>Server Error</h1><p>Something went wrong.</p></body></html>"}
}

// ServerErrorAfterwards does the work, and then answers a 5xx.
func ServerErrorAfterwards(status int) Trouble { return ServerError(status).Afterwards() }

// Cut closes the connection before anything is done.
func Cut() Trouble { return Trouble{Name: "cut", Cut: true} }

// AnswerLost does the work, and then closes the connection: the message is posted and its sender does not know.
func AnswerLost() Trouble { return Trouble{Name: "lost", Cut: true, Handled: true} }

// Garbled does the work and answers half a JSON object.
func Garbled() Trouble {
	return Trouble{Name: "garbled", Handled: true, Status: http.StatusOK, Body: `{"ok":true,"id":"C`}
}

// Held keeps the call waiting until Release, then goes on as if nothing had been.
func Held() Trouble { return Trouble{Name: "held", Hold: true} }

// AnswerHeld does the work and keeps the answer back until Release.
func AnswerHeld() Trouble { return Trouble{Name: "answer held", Hold: true, Handled: true} }
