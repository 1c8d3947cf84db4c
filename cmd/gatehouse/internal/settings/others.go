package settings

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// nearMiss is the largest distance at which a variable counts as a misspelt setting of a platform. Other programs have
// such variables too.
const nearMiss = 4

// serviceLink is the form of the variables that Kubernetes sets for a service of the name gatehouse, and Docker for a
// linked container.
var serviceLink = regexp.MustCompile(`^GATEHOUSE_(SERVICE_(HOST|PORT(_.+)?)|` +
	`PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// Unknown returns a warning for every unknown GATEHOUSE_ variable, except those of the tests, and for every variable
// that resembles a platform's setting, such as DISCORD_TOKEN. Kubernetes' service links are no settings.
// An empty variable counts as not set.
func (s Source) Unknown() []string {
	keys := s.Keys()
	var warnings []string
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if value == "" || slices.Contains(keys, name) {
			continue
		}
		first, _, _ := strings.Cut(name, "_")
		if serviceLink.MatchString(name) {
			continue
		}
		if !slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, first+"_") }) {
			continue // another program's
		}
		ours := strings.HasPrefix(name, "GATEHOUSE_") && !strings.HasPrefix(name, "GATEHOUSE_TEST_") &&
			name != "GATEHOUSE_FIXTURES"
		meant := nearest(name, keys)
		platform, _, _ := strings.Cut(meant, "_")
		if ours ||
			platform != "OTEL" && strings.HasPrefix(name, platform+"_") &&
				levenshtein.ComputeDistance(name, meant) <= nearMiss {
			warnings = append(warnings, name+" is set but is not a setting of gatehouse; did you mean "+meant+"?")
		}
	}
	slices.Sort(warnings)
	return warnings
}

// nearest returns the key with the smallest distance to name.
func nearest(name string, keys []string) string {
	return slices.MinFunc(keys, func(a, b string) int {
		return levenshtein.ComputeDistance(name, a) - levenshtein.ComputeDistance(name, b)
	})
}

// proxies are the variables, in either case, that name the proxies of all calls to platforms, models and collectors.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}

// Standard returns the variables of OpenTelemetry that are set and that its SDK reads itself, and those of proxies.
// Headers may hold a token.
func (s Source) Standard() []Setting {
	known := s.Keys()
	var found []Setting
	for _, variable := range os.Environ() {
		key, value, _ := strings.Cut(variable, "=")
		meaning := "A standard variable of OpenTelemetry."
		if slices.Contains(proxies, strings.ToUpper(key)) {
			meaning = "A proxy, as most programs read it."
		} else if !strings.HasPrefix(key, "OTEL_") {
			continue
		}
		if value == "" || slices.Contains(known, key) {
			continue
		}
		secret := ""
		if strings.Contains(key, "HEADERS") {
			secret = "all"
		}
		if strings.HasSuffix(key, "_ATTRIBUTES") {
			value = maskPairs(value)
		}
		found = append(found, Setting{Key: key, Value: Mask(secret, value), Source: fromEnv, Meaning: meaning})
	}
	slices.SortFunc(found, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) })
	return found
}
