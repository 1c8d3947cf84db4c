package modelapi

import (
	"regexp"
	"strings"

	"gatehouse/core/strictjson"
)

// Said is a text of a local model, taken apart. Servers that don't know a model's template leave its thinking and its
// calls in the text.
type Said struct {
	Thinking string
	Text     string // what people may read
	Typed    bool   // there were calls in it, which are in neither
}

// span is a part of a text between two marks.
type span struct{ open, end *regexp.Regexp }

func spanOf(open, end string) span { return span{regexp.MustCompile(open), regexp.MustCompile(end)} }

// thoughts stand at the beginning of a text. One that does not end is all of it.
var thoughts = []span{
	spanOf(`^\s*(?i:<think>)`, `(?i)</think>`),
	spanOf(`^\s*(?i:<thinking>)`, `(?i)</thinking>`),
	spanOf(`^\s*(?i:<thought>)`, `(?i)</thought>`),
	spanOf(`^\s*<seed:think>`, `</seed:think>`),
	spanOf(`^\s*\[THINK\]`, `\[/THINK\]`),
	spanOf(`^\s*◁think▷`, `◁/think▷`),
	spanOf(`^\s*<\|START_THINKING\|>`, `<\|END_THINKING\|>`),
	spanOf(`^\s*(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>`, `<\|end\|>`),
}

// thoughtEnd ends thinking that the template itself has begun: the text has its end alone, which stands behind a
// sentence or a line.
var thoughtEnd = regexp.MustCompile(`(?i)(^|\n[ \t]*|[.!?…])</think(?:ing)?>`)

// thoughtBegin is an opening tag anywhere.
var thoughtBegin = regexp.MustCompile(`(?i)<think(?:ing)?>`)

// typed are calls in the formats of Hermes and Qwen, GLM, Llama, Mistral, Phi, Kimi, DeepSeek, Command, MiniMax, Gemma
// and gpt-oss. Tags that people write about, too, count at the beginning of a line.
var typed = []span{
	spanOf(`(?m)^[ \t]*<tool_call>\s*(?:[\[{<]|[\w.-]+\s*<arg_key>)`, `</tool_call>`),
	spanOf(`(?m)^[ \t]*<function=[\w.-]+>`, `</function>(?:\s*</tool_call>)?`),
	spanOf(`(?m)^[ \t]*<(?:\w+:)?function_calls>`, `</(?:\w+:)?function_calls>`),
	spanOf(`(?m)^[ \t]*<minimax:tool_call>`, `</minimax:tool_call>`),
	spanOf(`(?m)^[ \t]*<(?:\w+:)?invoke name=`, `</(?:\w+:)?invoke>`),
	spanOf(`<\|python_tag\|>`, `<\|eom_id\|>`),
	spanOf(`\[TOOL_CALLS\]\s*(?:[\[{]|[\w.-]+\s*(?:\[ARGS\]|\[CALL_ID\]|\{))`, `\z`),
	spanOf(`<\|tool_call\|>`, `<\|/tool_call\|>`),
	spanOf(`<\|tool_calls_section_begin\|>`, `<\|tool_calls_section_end\|>`),
	spanOf(`<｜tool▁calls?▁begin｜>`, `<｜tool▁calls▁end｜>`),
	spanOf(`<\|START_ACTION\|>`, `<\|END_ACTION\|>`),
	spanOf(`<start_function_call>`, `<end_function_call>`),
	spanOf(`(?:<\|start\|>assistant)?<\|channel\|>commentary to=`, `<\|call\|>`),
}

// frame is what is left around a text of gpt-oss and Command.
var frame = regexp.MustCompile(
	`^\s*(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>|<\|(?:return|end)\|>\s*$|` +
		`^\s*<\|START_RESPONSE\|>|<\|END_RESPONSE\|>\s*$`)

// Say takes a text apart. known reports whether there is a tool of a name. What stands in a block of code is left as it
// is.
func Say(text string, known func(tool string) bool) (s Said) {
	s.Thinking, s.Text = think(text)
	s.Text, s.Typed = untyped(s.Text)
	if framed := frame.ReplaceAllString(s.Text, ""); framed != s.Text {
		s.Text = strings.TrimSpace(framed)
	}
	if v, err := strictjson.Parse([]byte(strings.TrimSpace(s.Text))); err == nil && isCall(v, known) {
		s.Text, s.Typed = "", true
	}
	return s
}

// think takes the thinking off the beginning of a text.
func think(text string) (thinking, rest string) {
	var all []string
	for i := 0; i < len(thoughts); i++ {
		open := thoughts[i].open.FindStringIndex(text)
		if open == nil {
			continue
		}
		inside := text[open[1]:]
		text = ""
		if end := thoughts[i].end.FindStringIndex(inside); end != nil {
			inside, text = inside[:end[0]], inside[end[1]:]
		}
		all, i = append(all, strings.TrimSpace(inside)), -1 // there may be another one
	}
	if all != nil {
		return strings.TrimSpace(strings.Join(all, "\n\n")), strings.TrimLeft(text, " \t\r\n")
	}
	end := thoughtEnd.FindStringSubmatchIndex(text)
	if end == nil || thoughtBegin.MatchString(text[:end[0]]) || fencesIn(text[:end[0]])%2 == 1 {
		return "", text
	}
	return strings.TrimSpace(text[:end[3]]), strings.TrimLeft(text[end[1]:], " \t\r\n")
}

// untyped is a text without the calls that are written in it.
func untyped(text string) (rest string, found bool) {
	rest = text
	for _, s := range typed {
		rest = s.cut(rest)
	}
	if rest == text {
		return text, false
	}
	return strings.TrimSpace(rest), true
}

// cut takes the spans out of a text. One that does not end is all that follows.
func (s span) cut(text string) string {
	var kept strings.Builder
	at, fences := 0, 0
	for _, open := range s.open.FindAllStringIndex(text, -1) {
		if open[0] < at {
			continue // inside of the one before
		}
		before := text[at:open[0]]
		kept.WriteString(before)
		at, fences = open[0], fences+fencesIn(before)
		if fences%2 == 1 || strings.HasSuffix(before, "`") {
			continue
		}
		end := s.end.FindStringIndex(text[open[1]:])
		if end == nil {
			return kept.String()
		}
		at = open[1] + end[1]
	}
	kept.WriteString(text[at:])
	return kept.String()
}

// fencesIn is how many fences of code stand in a text: within one that began, the number is odd.
func fencesIn(text string) int { return strings.Count(text, "```") + strings.Count(text, "~~~") }

// isCall reports whether a JSON value is a call of a tool that there is, or a list of such calls, as a whole.
func isCall(v *strictjson.Value, known func(string) bool) bool {
	if v.Kind == strictjson.Array {
		return len(v.Items) > 0 && isCall(v.Items[0], known)
	}
	named := known(Text(v, "name")) || known(Text(v, "function"))
	for _, key := range []string{"arguments", "parameters", "args", "input"} {
		if arguments := v.Get(key); named && arguments != nil && arguments.Kind == strictjson.Object {
			return true
		}
	}
	return false
}
