package console_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/console"
	"gatehouse/core"
)

// keyboard is an input without an end until it is closed; writing never waits.
type keyboard struct {
	mu     sync.Mutex
	more   *sync.Cond
	typed  bytes.Buffer
	closed bool
}

func newKeyboard() *keyboard {
	k := &keyboard{}
	k.more = sync.NewCond(&k.mu)
	return k
}

func (k *keyboard) Type(text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.typed.WriteString(text)
	k.more.Broadcast()
}

func (k *keyboard) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.more.Broadcast()
}

func (k *keyboard) Read(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.typed.Len() == 0 {
		if k.closed {
			return 0, io.EOF
		}
		k.more.Wait()
	}
	return k.typed.Read(p)
}

// output records what is printed; it can be made to fail once.
type output struct {
	adaptertest.Log
	mu      sync.Mutex
	failing bool
}

func (p *output) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failing {
		p.failing = false
		return 0, errors.New("the output is closed")
	}
	return p.Log.Write(b)
}

// fakeTerminal is a person who writes to a pipe.
type fakeTerminal struct {
	*keyboard
	*output
}

func (o fakeTerminal) Say(_ testing.TB, text string) { o.Type(text + "\n") }

func (o fakeTerminal) Click(_ testing.TB, c core.Click) {
	o.Type(strings.TrimSpace(map[core.Choice]string{core.Approve: "y", core.Deny: "n"}[c.Choice]+" "+c.Reason) + "\n")
}

func (o fakeTerminal) Conversation() (core.Address, core.ConversationID) {
	return core.Address{Platform: "console", Channel: "default"}, "console:default"
}

func (o fakeTerminal) Shown() string { return o.String() }

func (o fakeTerminal) Fail(f adaptertest.Fault) bool {
	o.output.mu.Lock()
	defer o.output.mu.Unlock()
	o.failing = f == adaptertest.Down
	return o.failing
}

func (o fakeTerminal) SideEffects() []string { return sideEffects(o.String()) }

// sideEffects lists the characters that a terminal would execute, and the lines without a prefix of the console.
func sideEffects(text string) []string {
	var found []string
	for _, r := range text {
		if r < 0x20 && r != '\n' && r != '\t' || 0x7f <= r && r <= 0x9f || 0x202a <= r && r <= 0x202e ||
			0x2066 <= r && r <= 0x2069 {
			found = append(found, fmt.Sprintf("%U", r))
		}
	}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !strings.HasPrefix(line, "bot> ") && !strings.HasPrefix(line, "approval> ") &&
			!strings.HasPrefix(line, "question> ") && !strings.HasPrefix(line, "     ") {
			found = append(found, fmt.Sprintf("a line that begins with %.20q", line))
		}
	}
	return found
}

func TestConsoleIsAPlatform(t *testing.T) {
	adaptertest.Run(t, adaptertest.Harness{Open: func(*testing.T) (core.Platform, adaptertest.Fake) {
		o := fakeTerminal{newKeyboard(), &output{}}
		return console.New(console.Options{In: o.keyboard, Out: o.output}), o
	}})
}
