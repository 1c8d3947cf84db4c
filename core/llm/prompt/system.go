package prompt

import (
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// The variables of a system prompt.
const (
	varBot      = "bot"      // the bot's name
	varPlatform = "platform" // the platform of the conversation, as in its id
	varToday    = "today"    // the date, as in 2026-11-22
)

var systemVariables = []string{varBot, varPlatform, varToday}

// ReadSystem reads the agent's system prompt: a text file, of which all but the last line break is the template. It renders to one system
// message with SystemInput. Its version is its hash. Errors: invalid, with all faults of the file, a line each; a variable that a system
// prompt does not have is one.
func ReadSystem(path string) (Prompt, error) {
	var f faults
	text, ok := f.readText(path)
	if !ok {
		return Prompt{}, f.err()
	}
	text = strings.TrimSuffix(text, "\n")
	p := Prompt{Name: "system", Label: DefaultLabel, Chat: []Segment{{Role: core.System, Content: core.Text(text)}}}
	p.TemplateHash = HashTemplate(p)
	p.Version = p.TemplateHash
	f.checkTemplate(path, 1, false, text)
	pieces, _ := parse(text) // an error is a fault already
	line := 1
	for at, piece := range pieces {
		if piece.variable != "" && !slices.Contains(systemVariables, piece.variable) {
			f.add(path, line, "use "+strings.Join(systemVariables, ", "), "there is no variable %s", piece.variable)
		}
		line += strings.Count(pieces[at].text, "\n")
	}
	return p, f.err()
}

// SystemInput is what a system prompt is rendered with: the bot's name, the platform of the conversation and the date, in the location of
// today.
func SystemInput(bot, platform string, today time.Time) Input {
	return Input{Variables: map[string]any{varBot: bot, varPlatform: platform, varToday: today.Format(time.DateOnly)}}
}
