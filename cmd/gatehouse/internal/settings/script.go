package settings

import (
	"strings"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/hrf"
)

// demoScript is the name of the script that is built in, in place of a file.
const demoScript = "demo"

// scriptFault is how a fault of the script begins, as opposed to other faults of GATEHOUSE_AGENT.
const scriptFault = "GATEHOUSE_AGENT: the script is invalid:\n    "

// Script is the script that GATEHOUSE_AGENT names. It is valid.
type Script struct {
	Name     string // of its file, or demo
	Envelope *hrf.Envelope
	Warnings []string // what may be a mistake, each as file:line:column: warning: message
	Digest   string   // of its text
}

// loadScript reads and checks a script, by the strict profile. The error has every fault, one a line.
func loadScript(name string) (*Script, error) {
	if name == "" {
		return nil, core.Errorf(core.Invalid, "the name of its file is missing: write script:FILE, or script:demo "+
			"for the one that is built in")
	}
	text, err := agent.DemoScript, error(nil)
	if name != demoScript {
		text, err = core.ReadText(name)
	}
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "%s", err)
	}
	s := Script{Name: name, Digest: core.Digest(text)}
	envelope, report := hrf.Parse(text, hrf.Strict)
	if !report.Valid() {
		var lines []string
		for _, f := range report.Errors {
			lines = append(lines, f.In(name, string(f.Code)))
		}
		return nil, core.Errorf(core.Invalid, "%s", strings.Join(lines, "\n"))
	}
	if envelope.Script == nil {
		return nil, core.Errorf(core.Invalid, "%s: the envelope has no script; add a system message with contentType "+
			"harmony-script", name)
	}
	s.Envelope = envelope
	for _, f := range report.Warnings {
		s.Warnings = append(s.Warnings, f.In(name, "warning"))
	}
	return &s, nil
}
