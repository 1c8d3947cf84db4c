package strictjson

// Measure counts the levels and values of a text without reading it into memory, and stops soon after a limit is
// broken: what a tree of it would take can be known before it is built. The numbers of a text that is not JSON mean
// nothing; Parse refuses it for that.
func Measure(text []byte) (depth, values int) {
	level, values := 0, 1
	opened := false // the last byte but white space was [ or {
	for i := 0; i < len(text) && depth <= MaxDepth && values <= MaxValues; i++ {
		c := text[i]
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		if opened && c != ']' && c != '}' {
			values++ // the first item or member
		}
		opened = false
		switch c {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			opened = true
			level++
			depth = max(depth, level)
		case ']', '}':
			level--
		case ',':
			values++
		}
	}
	return depth, values
}
