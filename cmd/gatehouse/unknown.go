package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
)

// settingKeys are all variables that are read, those of secret files among them.
func settingKeys() []string {
	var keys []string
	for _, field := range settingFields(reflect.TypeFor[Config]()) {
		key := field.Tag.Get("envconfig")
		keys = append(keys, key)
		if field.Tag.Get("secret") != "" {
			keys = append(keys, key+"_FILE")
		}
	}
	return keys
}

// settingFields are the fields of a configuration that are settings, those of the structs inside it among them.
func settingFields(config reflect.Type) []reflect.StructField {
	var all []reflect.StructField
	for field := range config.Fields() {
		if field.Tag.Get("envconfig") != "" {
			all = append(all, field)
			continue
		}
		for _, inner := range settingFields(field.Type) {
			inner.Index = append(slices.Clone(field.Index), inner.Index...)
			all = append(all, inner)
		}
	}
	return all
}

// nearMiss is how many letters a variable of a platform may be off a setting to be taken for it: other programs have such variables too.
const nearMiss = 4

// unknownSettings gives a sentence for every GATEHOUSE_ variable that nothing reads, those of the tests left out, and for those of a
// platform that look like a setting of ours, such as DISCORD_TOKEN. One that is empty counts as not set.
func unknownSettings() []string {
	keys := settingKeys()
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
