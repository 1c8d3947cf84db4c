package openai

import (
	"regexp"
	"strconv"
	"strings"

	"gatehouse/core/llm"
)

// family is what a model's name says about it. New models come every month, so there is no list of them: their names
// are read.
type family struct {
	version   float64 // of gpt-VERSION, 5.6 for gpt-5.6-mini; 0: of another family
	reasoning bool    // it thinks before it answers
	gemini    bool    // it wants each call signed
}

var (
	gpt      = regexp.MustCompile(`^gpt-(\d+)(?:\.(\d+))?(?:$|[^\d.])`)
	oSeries  = regexp.MustCompile(`^o\d+(?:$|-)`)
	deepseek = regexp.MustCompile(`(?i)(^|[^a-z0-9])(deepseek-reasoner|deepseek-r1)`)
)

// The versions of gpt from which on the API changed (developers.openai.com).
const (
	firstReasoning = 5   // max_completion_tokens; no stop, no temperature of its own
	toolsNoEffort  = 5.4 // chat completions refuse tools beside an effort
	toolsAsNone    = 5.6 // and without one, unless it is none
	lastWithNone   = 5.99
)

// familyOf reads a name; what stands before its last slash is a gateway's.
func familyOf(model string) family {
	name := model[strings.LastIndexByte(model, '/')+1:]
	if oSeries.MatchString(name) {
		return family{reasoning: true}
	}
	m := gpt.FindStringSubmatch(name)
	if m == nil {
		return family{gemini: strings.HasPrefix(name, "gemini-")}
	}
	version, _ := strconv.ParseFloat(m[1]+"."+m[2]+"0", 64)
	return family{version: version, reasoning: version >= firstReasoning}
}

// toolsOnChat reports whether the model takes tools on chat completions, with the effort of a request.
func (f family) toolsOnChat(r llm.Request) bool {
	effort, set := r.Config.Extra["reasoning_effort"]
	none := strings.Trim(string(effort), ` "`) == "none"
	switch {
	case len(r.Tools) == 0 || f.version < toolsNoEffort:
		return true
	case f.version < toolsAsNone:
		return !set || none
	}
	return none && f.version <= lastWithNone
}
