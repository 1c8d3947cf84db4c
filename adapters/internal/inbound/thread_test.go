package inbound_test

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/core"
)

// said is a message of a thread.
func said(n int, text string) core.Quotation {
	return core.Quotation{What: "message in this thread", Name: "Bob", ID: "x:2", Text: fmt.Sprintf("%d %s", n, text)}
}

func TestAThreadIsItsRootAndTheNewestThatFit(t *testing.T) {
	root := said(0, "the plan")
	thread := inbound.Thread{Root: &root, Left: 40}
	for n := range 300 {
		thread.Said = append(thread.Said, said(n+1, strings.Repeat("word ", 20)))
	}
	text := thread.Quoted(1000)[0].Text
	first, last := strings.Index(text, "> 0 the plan"), strings.Index(text, "> 300 word")
	note := strings.Index(text, "Messages of this thread that are left out: ")
	if first < 0 || note < first || last < note {
		t.Errorf("root at %d, note at %d, the newest at %d of %q", first, note, last, text)
	}
	kept := strings.Count(text, `{"quoted":"message in this thread"`) - 1
	if !strings.Contains(text, fmt.Sprintf("left out: %d.", 340-kept)) || kept < 10 || len(text) > 3200 {
		t.Errorf("%d messages in %d bytes: %q", kept, len(text), text)
	}
	thread = inbound.Thread{Root: &root, Said: thread.Said[:3], Note: "Newer messages exist."}
	text = thread.Quoted(10_000)[0].Text
	if strings.Contains(text, "left out") ||
		!strings.HasSuffix(text, `{"quoted":"note","name":"gatehouse"} wrote:`+"\n> Newer messages exist.") {
		t.Errorf("a short thread is %q", text)
	}
	if (inbound.Thread{}).Quoted(1000) != nil {
		t.Error("an empty thread is something")
	}
}

func TestOfAThreadThatIsTooLongSomethingIsShown(t *testing.T) {
	root := said(0, strings.Repeat("root ", 10_000))
	text := inbound.Thread{
		Root: &root, Said: []core.Quotation{said(1, "early"), said(2, strings.Repeat("late ", 10_000))},
	}.Quoted(500)[0].Text
	for _, want := range []string{"> 0 root root", "> 2 late late", "more characters are not shown", "left out: 1."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if len(text) > 2500 {
		t.Errorf("it has %d bytes", len(text))
	}
}

func TestWhatAMessageIsReadAs(t *testing.T) {
	ann, bob := core.Speaker{Name: "Ann", ID: "x:1"}, []core.Block{core.Quote(said(1, "hello"))}
	for name, c := range map[string]struct {
		heard inbound.Heard
		want  string
	}{
		"alone":        {inbound.Heard{Speaker: ann, Alone: true, Text: " hi "}, "hi"},
		"among others": {inbound.Heard{Speaker: ann, Text: "hi"}, `{"name":"Ann","id":"x:1"} says:` + "\n> hi"},
		"alone, with a quote": {
			inbound.Heard{Speaker: ann, Alone: true, Text: "hi", Points: bob},
			bob[0].Text + "\n" + `{"name":"Ann","id":"x:1"} says:` + "\n> hi",
		},
		"a quote alone": {
			inbound.Heard{Speaker: ann, Points: bob}, bob[0].Text + "\n" + `{"name":"Ann","id":"x:1"} says:`,
		},
		"nothing, alone": {
			inbound.Heard{Speaker: ann, Alone: true},
			"There is nothing in that message that I can read. Write what you would like.",
		},
		"nothing, of a mention": {
			inbound.Heard{Speaker: ann, Mention: true},
			"There is nothing in that message that I can read. Write what you would like after mentioning me.",
		},
	} {
		in, err := c.heard.Input()
		got := core.MessageOf(err)
		if err == nil {
			got = in.Message.Content.String()
		} else if core.CategoryOf(err) != core.ChatMessageShapeInvalid {
			t.Errorf("%s: %v", name, err)
		}
		if got != c.want {
			t.Errorf("%s is read as %q, want %q", name, got, c.want)
		}
	}
}
