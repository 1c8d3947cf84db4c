package settings

import (
	"os"
	"slices"
	"strings"
)

// Standard gives the variables of OpenTelemetry that are set and that its SDK reads itself. Headers may hold a token.
func Standard() []Setting {
	known := Keys()
	var found []Setting
	for _, variable := range os.Environ() {
		key, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(key, "OTEL_") || value == "" || slices.Contains(known, key) {
			continue
		}
		secret := ""
		if strings.Contains(key, "HEADERS") {
			secret = "all"
		}
		found = append(found, Setting{Key: key, Value: Mask(secret, value), Source: fromEnv, Meaning: "A standard variable of OpenTelemetry."})
	}
	slices.SortFunc(found, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) })
	return found
}
