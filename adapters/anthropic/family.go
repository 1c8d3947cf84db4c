package anthropic

import (
	"regexp"
	"strconv"
	"strings"
)

var claude = regexp.MustCompile(`claude-([a-z]+)-(\d+)(?:-(\d{1,2}))?(?:$|[^\d])`)

// family is what a model's name says: claude-opus-5-5 is opus, 5.5. Other names, such as those of a gateway, say
// nothing.
func family(model string) (kind string, version float64) {
	m := claude.FindStringSubmatch(strings.ReplaceAll(model, ".", "-"))
	if m == nil {
		return "", 0
	}
	version, _ = strconv.ParseFloat(m[2]+"."+m[3]+"0", 64)
	return m[1], version
}

// refusesSampling reports whether the API refuses temperature, top_p and top_k for a model (platform.claude.com,
// migration guides).
func refusesSampling(model string) bool {
	kind, version := family(model)
	return version >= 5 || kind == "opus" && version >= 4.7
}

// refusesForced reports whether the API refuses to have a model forced to call a tool.
func refusesForced(model string) bool {
	kind, version := family(model)
	return kind == "opus" && version >= 5.5 || kind == "fable" && version >= 5.1 || kind == "mythos" && version >= 5.1
}

// bindsThinking reports whether the API binds a model's thinking to the conversation before it.
func bindsThinking(model string) bool {
	_, version := family(model)
	return version >= 5.1
}
