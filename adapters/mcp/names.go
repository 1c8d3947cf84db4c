package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// maxName is the longest name of a server, and of a tool on it.
const maxName = 128

// maxNames is how many names one server's tools may have had while this process runs: each is stored.
const maxNames = 4096

// toolName makes a part of a tool's name from a foreign name: every other character than letters, digits, _ and -
// becomes _. It is "" if nothing of the name is left, or too much.
func toolName(name string) string {
	mapped := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-') {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(mapped, "_-") == "" || len(mapped) > maxName {
		return ""
	}
	return mapped
}

// numbered is another name for a tool: the beginning of its mapped name, and a part of its digest.
func (s *server) numbered(name string, digits int) string {
	sum := sha256.Sum256([]byte(name))
	end := "_" + hex.EncodeToString(sum[:])[:digits]
	name = s.Hide(name)
	return toolName(name[:min(len(name), maxName-len(end))]) + end
}

// names gives the tools of a list their names here, by those that they have on the server. A name that was given out is
// stored under mcp.name/server/name with the one that it stands for, and never given to another tool. The tool whose
// own name it is comes first; of others that want the same one, none gets it. A tool without a name has had none left
// for it.
func (s *server) names(ctx context.Context, listed []string) map[string]string {
	given, wanted := map[string]string{}, map[string]int{}
	for _, name := range listed {
		wanted[toolName(name)]++
	}
	for _, own := range []bool{true, false} {
		for _, name := range listed {
			mapped := toolName(name)
			if _, done := given[name]; done || own != (mapped == name) {
				continue
			}
			choices := []string{mapped}
			for digits := 8; digits <= 64; digits += 8 {
				choices = append(choices, s.numbered(name, digits))
			}
			if mapped == "" {
				choices = choices[1:]
			}
			has := func(choice string) bool { return s.give(ctx, choice, name, false) }
			gets := func(choice string) bool {
				return s.give(ctx, choice, name, choice != mapped || own || wanted[mapped] == 1)
			}
			if i := slices.IndexFunc(choices[:2], has); i >= 0 {
				given[name] = choices[i]
			} else if i = slices.IndexFunc(choices, gets); i >= 0 {
				given[name] = choices[i]
			}
		}
	}
	return given
}

// give reports whether a name is a tool's. If nobody has it, the tool gets it, if it may be new.
func (s *server) give(ctx context.Context, name, remote string, fresh bool) bool {
	key, owner := "mcp.name/"+s.Name+"/"+name, s.given[name]
	var err error
	if owner == "" && s.pins != nil {
		owner, err = s.pins.Get(ctx, key)
	}
	if owner == "" && (!fresh || len(s.given) >= maxNames) {
		return false
	}
	if owner == "" && err == nil && s.pins != nil {
		err = s.pins.Put(ctx, key, remote)
	}
	if err != nil {
		s.log.Warn("the name of a tool could not be stored, so it may be another tool's after a restart",
			"tool", s.Name+"."+name, "err", err)
	}
	if owner == "" {
		owner = remote
	}
	s.given[name] = owner
	return owner == remote
}
