package prompt

import (
	"fmt"
	"os"
	"time"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// systemName is the name of the agent's system prompt.
const systemName = "system"

// The variables of a system prompt.
const (
	varPlatform = "platform" // the platform of the conversation, as in its id
	varToday    = "today"    // the date, as in 2026-11-22
	varZone     = "zone"     // its time zone, as in Europe/Berlin
)

var systemVariables = []string{varPlatform, varToday, varZone}

// ReadSystem reads the agent's system prompt. path is a text file, which may have a header with sampling, and whose
// version is its hash; or a folder of prompts, whose prompt system is taken with the label production. It is one text,
// which SystemInput fills. Errors: strictyaml.Faults, all of all files; a variable that a system prompt does not have
// is one.
func ReadSystem(path string, now time.Time) (Prompt, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return systemOf(path, now)
	}
	r := reader{variables: systemVariables}
	v := version{file: path, Prompt: Prompt{Name: systemName, Label: DefaultLabel, FetchedAt: now}}
	r.readText(&v)
	if len(v.labels) > 0 {
		r.Fault(v.labels[0].at, "remove it, or write the prompt into a folder with several versions",
			"a file alone has no labels")
	}
	v.TemplateHash = HashTemplate(v.Prompt)
	v.Version = v.TemplateHash
	return v.Prompt, r.Err()
}

// systemOf takes the system prompt out of a folder.
func systemOf(dir string, now time.Time) (Prompt, error) {
	all, err := OpenFolder(dir, now)
	if err != nil {
		return Prompt{}, err
	}
	p, there := all.prompts[key{systemName, DefaultLabel}]
	switch {
	case !there:
		return Prompt{},
			strictyaml.Faults{{File: dir, What: "there is no prompt " + systemName + " with the label " + DefaultLabel,
				Do: fmt.Sprintf("add the file %[1]s/1.md, or labels: [%[2]s] to one of the versions of %[1]s",
					systemName, DefaultLabel)}}
	case p.IsChat() && (len(p.Chat) != 1 || p.Chat[0].Role != core.System):
		return Prompt{},
			strictyaml.Faults{{
				File: dir, What: fmt.Sprintf("version %s of the prompt %s is a whole chat", p.Version, systemName),
				Do: "write a text, or a chat_template with one segment, whose role is system",
			}}
	}
	return p, nil
}

// SystemInput is what a system prompt is rendered with: the platform of the conversation, and the date and the location
// of today.
func SystemInput(platform string, today time.Time) Input {
	return Input{Variables: map[string]any{
		varPlatform: platform, varToday: today.Format(time.DateOnly), varZone: today.Location().String(),
	}}
}
