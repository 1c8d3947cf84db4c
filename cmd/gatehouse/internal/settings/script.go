package settings

import (
	"fmt"
	"os"
	"strings"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/hrf"
)

// demoScript is the name of the script that is built in, in place of a file.
const demoScript = "demo"

// scriptFault is how faults of the script begin.
const scriptFault = "GATEHOUSE_AGENT: the script is invalid:\n    "

// Script is a script that is the agent.
type Script struct {
	Name     string // its file, or demo
	Envelope *hrf.Envelope
	Warnings []string // what may be a mistake in it, each with its place
	Digest   string   // of its text
}

// At puts the place in a script before a text.
func (s Script) At(line, column int, text string) string {
	return fmt.Sprintf("%s:%d:%d: %s", s.Name, line, column, text)
}

// loadScript reads and checks a script, by the strict profile. The error has every fault, one a line.
func loadScript(name string) (*Script, error) {
	text, err := agent.DemoScript, error(nil)
	if name != demoScript {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "%s", err)
	}
	s := Script{Name: name, Digest: core.Digest(text)}
	envelope, report := hrf.Parse(text, hrf.Strict)
	if !report.Valid() {
		return nil, core.Errorf(core.Invalid, "%s", strings.Join(s.lines(report.Errors), "\n"))
	}
	if envelope.Script == nil {
		return nil, core.Errorf(core.Invalid, "%s", s.At(1, 1, "the envelope has no script: a message of the role system with the contentType harmony-script"))
	}
	s.Envelope, s.Warnings = envelope, s.lines(report.Warnings)
	return &s, nil
}

func (s Script) lines(found []hrf.Finding) (all []string) {
	for _, f := range found {
		text := fmt.Sprintf("%s: %s", f.Code, f.Message)
		if f.Hint != "" {
			text += "; " + f.Hint
		}
		all = append(all, s.At(f.Line, f.Column, text))
	}
	return all
}
