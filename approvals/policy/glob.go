package policy

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gatehouse/core/strictyaml"
)

// matches reports whether a name has the form of a glob: * stands for any characters, ? for one; all others for
// themselves.
func matches(glob, name string) bool {
	g, n := []rune(glob), []rune(name)
	i, j := 0, 0
	star, from := -1, 0 // the last star, and where in the name it began
	for j < len(n) {
		switch {
		case i < len(g) && g[i] == '*':
			star, from = i, j
			i++
		case i < len(g) && (g[i] == '?' || g[i] == n[j]):
			i++
			j++
		case star >= 0: // the star takes one more
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(g) && g[i] == '*' {
		i++
	}
	return i == len(g)
}

var (
	braces = regexp.MustCompile(`^([^{}]*)\{([^{}]+)\}([^{}]*)$`)
	asGlob = strings.NewReplacer("^", "", "$", "", `\.`, ".", ".*", "*", "(", "", ")", "")
)

// foreign is where the first character is that is in no glob; -1: there is none.
func foreign(glob string) int {
	return strings.IndexFunc(glob, func(c rune) bool {
		word := c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c))
		return !word && !strings.ContainsRune("_-.*?", c)
	})
}

// unfit returns why no tool's name can have the form of a glob, as the end of a sentence about it, and the remedy; "" =
// one can.
func unfit(glob string) (what, do string) {
	const (
		name      = "letters, digits, _, - and a dot; * stands for any characters, ? for one"
		isPattern = "is a regular expression, and names are compared as they are"
	)
	joined := strings.Trim(strings.Join(strings.Fields(glob), ""), ",")
	plain := strings.ReplaceAll(asGlob.Replace(glob), "..", ".")
	at := foreign(glob)
	switch {
	case joined != glob && !strings.Contains(joined, ","):
		return "has white space, which no tool's name has", "write " + strictyaml.Quoted(joined)
	case strings.ContainsAny(glob, "{}"):
		return "has braces, which stand for themselves here", "write each name out, " + listed(expanded(glob))
	case strings.Contains(glob, ","):
		return "has several names in one text", "write each as an entry, " + listed(strings.Split(joined, ","))
	case !strings.ContainsAny(glob, `^$\()[]|+`) && !strings.HasPrefix(glob, ".") && !strings.Contains(glob, "..*"):
	case foreign(plain) < 0:
		return isPattern, "write " + strictyaml.Quoted(plain)
	default:
		return isPattern, "write each name out, of " + name
	}
	if at < 0 {
		return "", ""
	}
	return "has " + strictyaml.Quoted(string([]rune(glob[at:])[:1])) + ", which no tool's name has",
		"copy the tool's name; it has " + name
}

// expanded are the names that braces would stand for in a shell.
func expanded(glob string) (all []string) {
	m := braces.FindStringSubmatch(glob)
	if m == nil {
		return []string{strings.Trim(glob, "{}")}
	}
	for one := range strings.SplitSeq(m[2], ",") {
		all = append(all, m[1]+strings.TrimSpace(one)+m[3])
	}
	return all
}

func listed(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strictyaml.Quoted(name)
	}
	return "such as [" + strings.Join(quoted, ", ") + "]"
}

// apart reports whether the beginnings of two globs tell that no name has the form of both.
func apart(one, other string) bool {
	one, _, _ = strings.Cut(strings.ReplaceAll(one, "?", "*"), "*")
	other, _, _ = strings.Cut(strings.ReplaceAll(other, "?", "*"), "*")
	return !strings.HasPrefix(one, other) && !strings.HasPrefix(other, one)
}

// coverLimit bounds how many states a comparison of globs looks at. Beyond, nothing is known to be covered.
const coverLimit = 5000

// reading is how far a name is read: what of a glob is left for the rest of it, and what of the globs that it is
// compared with. A glob ends with $.
type reading struct {
	rest, others string // others have a space between them
	begun, dot   bool   // a character was read; a dot was
	ends         bool   // the name may end here: its last character is no dot
}

// covered reports whether each name of the form of a glob has the form of one of others. Names have a dot, neither
// first nor last.
func covered(glob string, others []string) bool {
	letters := "\x00." // the first stands for every one that is in no glob
	for _, c := range glob + strings.Join(others, "") {
		if c != '*' && c != '?' && !strings.ContainsRune(letters, c) {
			letters += string(c)
		}
	}
	if len(others) == 0 {
		return false
	}
	first := reading{rest: glob + "$", others: strings.Join(others, "$ ") + "$"}
	seen := map[reading]bool{first: true}
	for queue := []reading{first}; len(queue) > 0; queue = queue[1:] {
		now := queue[0]
		left := strings.Fields(now.others)
		over := func(rest string) bool { return strings.TrimLeft(rest, "*") == "$" }
		if over(now.rest) && now.dot && now.ends && !slices.ContainsFunc(left, over) {
			return false
		}
		for _, c := range letters {
			if c == '.' && !now.begun {
				continue
			}
			var rest []string
			for _, one := range left {
				rest = append(rest, after(one, c)...)
			}
			slices.Sort(rest)
			for _, next := range after(now.rest, c) {
				to := reading{next, strings.Join(slices.Compact(rest), " "), true, now.dot || c == '.', c != '.'}
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
		if len(seen) > coverLimit {
			return false
		}
	}
	return true
}

// after are what may be left of a glob after a character of a name.
func after(glob string, c rune) (all []string) {
	for strings.HasPrefix(glob, "*") {
		all = append(all, glob)
		glob = glob[1:]
	}
	if glob[0] == '?' || rune(glob[0]) == c {
		all = append(all, glob[1:])
	}
	return all
}
