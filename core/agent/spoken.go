package agent

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// spoken passes on what people may read of an answer while it is made. Local models write their thinking and their
// calls into their texts, and the whole answer comes without them (llm.Response): of a call that begins, or may, the
// rest of the answer is held back; so is thinking up to its end. What is held back comes with the whole answer.
type spoken struct {
	to    core.Deltas
	held  string         // what may begin a mark
	until *regexp.Regexp // the end of the thinking that goes on; nil: none does
	begun bool           // something was passed on
	mute  bool           // nothing more is
}

// thought is a mark that begins thinking, and the one that ends it.
type thought struct {
	begins string
	ends   *regexp.Regexp
}

func thoughtOf(begins, ends string) thought {
	return thought{begins, regexp.MustCompile("(?i)" + regexp.QuoteMeta(ends))}
}

var (
	thoughts = []thought{
		thoughtOf("<think>", "</think>"),
		thoughtOf("<thinking>", "</thinking>"),
		thoughtOf("<thought>", "</thought>"),
		thoughtOf("<seed:think>", "</seed:think>"),
		thoughtOf("[THINK]", "[/THINK]"),
		thoughtOf("◁think▷", "◁/think▷"),
		thoughtOf("<|START_THINKING|>", "<|END_THINKING|>"),
		thoughtOf("<|channel|>analysis<|message|>", "<|end|>"),
		thoughtOf("<|start|>assistant<|channel|>analysis<|message|>", "<|end|>"),
	}
	// mark is what a mark may begin with.
	mark = regexp.MustCompile(`^(?:<[/|｜]?[\w:▁|]*|\[[/\w]*|◁/?\w*)`)
	// thinkingEnds ends thinking that the model's template has begun: all before it was that.
	thinkingEnds = regexp.MustCompile(`^(?i:</think(?:ing)?>)`)
	// callBegins begins a call that is written as a text.
	callBegins = regexp.MustCompile(
		`^(?:<[|｜]|<(?:\w+:)?(?:tool_call|function|function_calls|invoke|start_function_call)\b|\[TOOL_CALLS\])`)
)

// longestMark is how many bytes a mark may have.
const longestMark = 64

const blanks = " \t\r\n"

// hear takes a piece of the answer, or the first one of an answer that is made anew.
func (s *spoken) hear(t llm.Token) {
	if t.Index == 0 {
		s.anew()
	}
	if t.Kind != llm.TokenContent || s.mute {
		return
	}
	s.held += t.Text
	for s.held != "" && !s.mute && s.step() {
	}
}

// anew begins the answer anew.
func (s *spoken) anew() {
	if s.begun {
		s.to.Writes()
	}
	*s = spoken{to: s.to}
}

// step takes something off what is held; false: more must come first.
func (s *spoken) step() bool {
	if s.until != nil {
		return s.think()
	}
	if !s.begun {
		s.held = strings.TrimLeft(s.held, blanks)
		rest, list := strings.CutPrefix(s.held, "[")
		rest = strings.TrimLeft(rest, blanks)
		if list && rest == "" {
			return false
		} else if strings.HasPrefix(rest, "{") { // rest is all that is held where that is no list
			s.mute = true // a call, or it will come whole
			return false
		}
	}
	plain := strings.IndexAny(s.held, "<[◁")
	if plain < 0 {
		plain = len(s.held)
	}
	if plain > 0 {
		s.say(plain)
		return true
	}
	return s.marked()
}

// marked takes a mark, or what looks like one.
func (s *spoken) marked() bool {
	for _, t := range thoughts {
		n := min(len(t.begins), len(s.held))
		switch {
		case s.begun || !strings.EqualFold(s.held[:n], t.begins[:n]):
		case n < len(t.begins):
			return false
		default:
			s.held, s.until = s.held[n:], t.ends
			return true
		}
	}
	name := mark.FindString(s.held)
	switch {
	case name == s.held && len(name) < longestMark:
		return false
	case thinkingEnds.MatchString(s.held):
		rest := s.held[len(thinkingEnds.FindString(s.held)):]
		s.anew()
		s.held = rest
		return true
	case callBegins.MatchString(s.held):
		s.mute = true
		return false
	}
	_, first := utf8.DecodeRuneInString(s.held)
	s.say(first)
	return true
}

// think skips thinking.
func (s *spoken) think() bool {
	end := s.until.FindStringIndex(s.held)
	if end == nil {
		s.held = s.held[max(0, len(s.held)-longestMark):]
		return false
	}
	s.held, s.until = s.held[end[1]:], nil
	return true
}

// say passes on the first n bytes of what is held.
func (s *spoken) say(n int) {
	s.to.Piece(s.held[:n])
	s.held, s.begun = s.held[n:], true
}
