package console

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/ergochat/readline"

	"gatehouse/core"
)

// maxLine is how many characters the line editor takes. A longer line of a paste is kept beside it.
const maxLine = 4096

// editor is the line that is being typed. The library draws it: it knows how wide characters are, and how a line wraps.
//
// Three things are done around it. It asks the terminal where the cursor is before each line, and shows nothing until
// that answers; not every terminal does, and the cursor is always in the first column then, so keys gives that answer.
// It takes every pasted newline for Enter, so keys takes pastes out of its input. And it takes a line that the end of
// the input cuts off for a complete one, so that line is discarded.
type editor struct {
	c       *Console
	rl      *readline.Instance
	config  *readline.Config // the library draws the prompt that stands here
	keys    *keys
	resized func() // has the library ask for the size again

	closed atomic.Bool // nothing is drawn any more
	next   string      // the prompt from the next drawing on; c.mu guards it

	draft
}

// draft is the line so far; only the goroutine that reads uses it.
type draft struct {
	length    int
	held      []string         // the finished lines of pastes
	pasted    bool             // the line began with a paste
	oversized bool             // a paste was too large
	target    *core.ApprovalID // see input
	several   bool             // see input
}

func newEditor(c *Console, k *keys, prompt string) (*editor, error) {
	e := &editor{c: c, keys: k, next: prompt}
	e.config = &readline.Config{
		Prompt: prompt, Stdin: k, Stdout: e, Stderr: e, EOFPrompt: "\n", Listener: e.typed,
		FuncFilterInputRune: e.takes,
		FuncIsTerminal: func() bool {
			return true
		}, FuncGetSize: func() (width, height int) {
			return size(c.opt.Out)
		}, FuncOnWidthChanged: func(resized func()) {
			e.resized = resized
		},
		// raw for as long as the prompt runs
		FuncMakeRaw: func() error { return nil }, FuncExitRaw: func() error { return nil },
	}
	var err error
	e.rl, err = readline.NewFromConfig(e.config)
	return e, err
}

// Write is the library's way to the terminal. An empty text, which only setPrompt writes, takes over the new prompt: by
// then the library has wiped the line with the old one.
func (e *editor) Write(p []byte) (int, error) {
	if len(p) == 0 {
		e.config.Prompt = e.next
		return 0, nil
	}
	for range bytes.Count(p, []byte(whereQuery)) {
		e.keys.answers <- struct{}{}
	}
	text := onTerminal.Replace(string(p))
	if text == "" || e.closed.Load() {
		return len(p), nil
	}
	_, err := io.WriteString(e.c.opt.Out, text)
	return len(p), err
}

// onTerminal turns what the library writes into what a terminal in raw mode takes.
var onTerminal = strings.NewReplacer(whereQuery, "", "\n", "\r\n")

// print prints a text above the line. The caller holds c.mu.
func (e *editor) print(text string) error {
	_, err := e.rl.Write([]byte(text))
	return err
}

// setPrompt draws the line again with another prompt. The caller holds c.mu.
func (e *editor) setPrompt(prompt string) {
	e.next = prompt
	_, _ = e.rl.Write(nil) // as above
}

// close ends the reading and drawing. The caller holds c.mu.
func (e *editor) close() {
	e.closed.Store(true)
	_ = e.rl.Close() // it restores nothing
}

// resize draws the line again in the terminal's new size.
func (e *editor) resize() {
	e.resized()
	e.rl.Refresh()
}

// edits are the control characters that the library edits with. Left out are those that search the history and suspend
// the process.
var edits = []rune{
	readline.CharLineStart, readline.CharBackward, readline.CharInterrupt, readline.CharEOT, readline.CharLineEnd,
	readline.CharForward, readline.CharCtrlH,
	readline.CharTab, readline.CharCtrlJ, readline.CharKill, readline.CharCtrlL, readline.CharEnter, readline.CharNext,
	readline.CharPrev,
	readline.CharTranspose, readline.CharCtrlU, readline.CharCtrlW, readline.CharCtrlY, readline.CharBackspace,
}

// takes reports whether a key does something.
func (e *editor) takes(key rune) (rune, bool) {
	if unicode.IsControl(key) {
		return key, slices.Contains(edits, key) && (key != readline.CharTab || e.length < maxLine)
	}
	return key, key < 0 || e.length < maxLine
}

// typed is called after each key, and inserts a paste. The card that an answer is for is the last one when the line
// began.
func (e *editor) typed(line []rune, pos int, key rune) ([]rune, int, bool) {
	changed := false
	if key == readline.MetaShiftTab {
		select {
		case p := <-e.keys.pastes:
			line, pos = e.insert(line, pos, p)
			changed = true
		default: // it was typed
		}
	}
	before := e.length
	if e.length = len(line); before == 0 && e.length > 0 {
		e.c.mu.Lock()
		id := e.c.current().card.Approval
		e.several = len(e.c.openApprovals()) > 1
		e.c.mu.Unlock()
		e.target = &id
	}
	if e.length == 0 {
		e.pasted = false
	}
	return line, pos, changed
}

// insert inserts a paste at pos. All its lines but the last are finished: they are shown above the line, and kept for
// its end.
func (e *editor) insert(line []rune, pos int, p paste) ([]rune, int) {
	e.oversized = e.oversized || p.tooLarge
	e.pasted = e.pasted || len(line) == 0
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, lineEnds.Replace(strings.ToValidUTF8(p.text, "\ufffd")))
	parts := strings.Split(string(line[:pos])+text, "\n")
	last := []rune(parts[len(parts)-1])
	if after := line[pos:]; len(last)+len(after) <= maxLine {
		parts = parts[:len(parts)-1]
		line, pos = append(slices.Clone(last), after...), len(last)
	} else {
		line, pos = slices.Clone(after), 0
	}
	e.c.mu.Lock()
	defer e.c.mu.Unlock()
	for _, part := range parts {
		e.held = append(e.held, part)
		_ = e.print("you> " + oneLine(part) + "\n") // for the eye only
	}
	if len(strings.Join(e.held, "\n")) > e.c.opt.MaxMessage {
		e.held, e.oversized = nil, true
	}
	return line, pos
}

// read returns the next line. The last one has an err.
func (e *editor) read() input {
	text, err := e.rl.ReadLine()
	text = strings.TrimRight(strings.Join(append(e.held, text), "\n"), "\n")
	l := input{
		target: e.target, several: e.several, pasted: e.pasted || len(e.held) > 0,
		oversized: e.oversized || len(text) > e.c.opt.MaxMessage,
	}
	switch {
	case errors.Is(err, readline.ErrInterrupt):
		l = input{interrupt: true, typed: e.length > 0 || len(e.held) > 0}
	case err != nil:
		l = input{err: err}
	case !l.oversized:
		l.text = wellFormed(text)
	}
	select {
	case end := <-e.keys.ended:
		l = input{err: end}
	default: // there is more
	}
	e.draft = draft{}
	return l
}
