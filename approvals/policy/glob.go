package policy

// matches reports whether a name has the form of a glob: * stands for any characters, ? for one; all others for themselves.
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
