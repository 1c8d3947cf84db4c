package settings

import (
	"os"
	"slices"
	"strings"
)

// nearMiss is how many letters a variable of a platform may be off a setting to be taken for it: other programs have such variables too.
const nearMiss = 4

// Unknown gives a sentence for every GATEHOUSE_ variable that nothing reads, those of the tests left out, and for those of a
// platform that look like a setting of ours, such as DISCORD_TOKEN. One that is empty counts as not set.
func Unknown() []string {
	keys := Keys()
	var warnings []string
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if value == "" || slices.Contains(keys, name) {
			continue
		}
		first, _, _ := strings.Cut(name, "_")
		if !slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, first+"_") }) {
			continue // another program's
		}
		ours := strings.HasPrefix(name, "GATEHOUSE_") && !strings.HasPrefix(name, "GATEHOUSE_TEST_") && name != "GATEHOUSE_FIXTURES"
		meant := nearest(name, keys)
		platform, _, _ := strings.Cut(meant, "_")
		if ours || platform != "OTEL" && strings.HasPrefix(name, platform+"_") && distance(name, meant) <= nearMiss {
			warnings = append(warnings, name+" is set but is not a setting of gatehouse; did you mean "+meant+"?")
		}
	}
	slices.Sort(warnings)
	return warnings
}

// nearest gives the key that needs the fewest changes to become name.
func nearest(name string, keys []string) string {
	return slices.MinFunc(keys, func(a, b string) int { return distance(name, a) - distance(name, b) })
}

// distance counts the letters to be added, taken away or changed between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

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
