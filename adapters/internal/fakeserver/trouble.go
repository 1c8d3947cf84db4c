package fakeserver

import (
	"fmt"
	"net/http"
	"time"
)

// Trouble is a way in which a call can fail. The fakes have functions for the troubles of their platform.
type Trouble struct {
	Name    string // for Call.Fault
	Status  int
	Header  map[string]string
	Body    string
	Wait    time.Duration // the wait that a rate limit asks for
	Handled bool          // the call does its work first
	Cut     bool          // the connection is closed without an answer
	Hold    bool          // the call waits until Release
}

// Afterwards returns the same trouble, but after the call has done its work.
func (t Trouble) Afterwards() Trouble {
	t.Handled = true
	return t
}

// ServerError answers with a 5xx status and an HTML page.
func ServerError(status int) Trouble {
	return Trouble{Name: fmt.Sprint("HTTP ", status), Status: status, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<!DOCTYPE html><html><head><title>Server Error</title></head><body><h1>Server Error</h1><p>Something went wrong.</p></body></html>"}
}

// ServerErrorAfterwards does the work, and then answers with a 5xx status.
func ServerErrorAfterwards(status int) Trouble { return ServerError(status).Afterwards() }

// Cut closes the connection before anything is done.
func Cut() Trouble { return Trouble{Name: "cut", Cut: true} }

// AnswerLost does the work, and then closes the connection: the message is posted and its sender does not know.
func AnswerLost() Trouble { return Trouble{Name: "lost", Cut: true, Handled: true} }

// Garbled does the work and answers with half a JSON object.
func Garbled() Trouble {
	return Trouble{Name: "garbled", Handled: true, Status: http.StatusOK, Body: `{"ok":true,"id":"C`}
}

// Held keeps the call waiting until Release, and then handles it normally.
func Held() Trouble { return Trouble{Name: "held", Hold: true} }

// AnswerHeld does the work and withholds the answer until Release.
func AnswerHeld() Trouble { return Trouble{Name: "answer held", Hold: true, Handled: true} }
