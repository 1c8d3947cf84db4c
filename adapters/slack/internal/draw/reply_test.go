package draw

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	api "github.com/slack-go/slack"
	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// ReplyLeaves are the leaves that a reply should have in Slack.
func ReplyLeaves(text string) []adaptertest.Leaf {
	return AsLines(adaptertest.Leaves(replyForms.Drawable(doc.Parse(text))))
}

// AsLines joins leaves, of which the items with a number are words that begin with it: where Slack would count in
// another way, they are lines.
func AsLines(all []adaptertest.Leaf) []adaptertest.Leaf {
	for i, l := range all {
		if l.Kind == adaptertest.Item && l.Text != "-" {
			all[i] = adaptertest.Leaf{Kind: adaptertest.Words, Text: l.Text + ". "}
		}
	}
	return adaptertest.Joined(all)
}

// JSONBlocks returns blocks as Slack gets them.
func JSONBlocks(t fataler, blocks []api.Block) (all []map[string]any) {
	t.Helper()
	raw, err := json.Marshal(blocks)
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return all
}

// ReadReply reads the leaves of a reply from the blocks that Slack gets.
func ReadReply(t fataler, blocks []map[string]any) (all []adaptertest.Leaf) {
	t.Helper()
	for _, b := range blocks {
		switch b["type"] {
		case "divider":
			all = append(all, adaptertest.Leaf{Kind: adaptertest.Rule})
		case "rich_text":
			for _, e := range list(b["elements"]) {
				all = append(all, readElement(t, e)...)
			}
		case "table":
			for _, row := range b["rows"].([]any) {
				for _, cell := range list(row) {
					all = append(all, adaptertest.Leaf{Kind: adaptertest.Cell, Text: textIn(cell)})
				}
			}
		default:
			t.Fatalf("a block %v", b)
		}
	}
	return all
}

func list(v any) (all []map[string]any) {
	for _, one := range v.([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

func textIn(v map[string]any) string {
	if elements, ok := v["elements"].([]any); ok {
		text := ""
		for _, e := range list(elements) {
			text += textIn(e)
		}
		return text
	}
	if v["type"] == "link" {
		return v["url"].(string)
	}
	return v["text"].(string)
}

func readElement(t fataler, e map[string]any) (all []adaptertest.Leaf) {
	t.Helper()
	switch e["type"] {
	case "rich_text_preformatted":
		return []adaptertest.Leaf{{Kind: adaptertest.Code, Text: textIn(e) + "\n"}}
	case "rich_text_list":
		for i, item := range list(e["elements"]) {
			number := "-"
			if e["style"] == "ordered" {
				number = strconv.Itoa(1 + i)
			}
			all = append(all, adaptertest.Leaf{Kind: adaptertest.Item, Text: number})
			all = append(all, readElement(t, item)...)
		}
		return all
	case "rich_text_section", "rich_text_quote":
		for _, p := range list(e["elements"]) {
			leaf := adaptertest.Leaf{Kind: adaptertest.Words, Text: textIn(p)}
			if style, ok := p["style"].(map[string]any); ok && style["code"] == true {
				leaf.Kind = adaptertest.Inline
			}
			all = append(all, leaf)
		}
		return all
	}
	t.Fatalf("an element %v", e)
	return nil
}

// TestRepliesAreReadBack: whatever a model writes, all of it is in what Slack gets, and nothing is altered.
func TestRepliesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := adaptertest.AnyMarkdown(t)
		var got []adaptertest.Leaf
		for _, m := range drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}}) {
			got = append(got, ReadReply(t, JSONBlocks(t, m.Blocks))...)
		}
		adaptertest.SameLeaves(t, text, ReplyLeaves(text), AsLines(got))
	})
}

// TestATableThatSlackRefusesIsCode with aligned columns.
func TestATableThatSlackRefusesIsCode(t *testing.T) {
	text := "| a | b |\n|---|--:|\n" + strings.Repeat("| x | 1 |\n", maxTableRows)
	all := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}})
	got := fmt.Sprint(ReadReply(t, JSONBlocks(t, all[0].Blocks)))
	if len(all) != 1 || !strings.HasPrefix(got, "[{code a | b\n--|--\nx | 1\nx | 1\n") {
		t.Errorf("%d messages: %.200s", len(all), got)
	}
}

// TestNumbersStayAsTheModelWroteThem: Slack counts from 1, so any other list, and one that something interrupts, is
// lines with their numbers.
func TestNumbersStayAsTheModelWroteThem(t *testing.T) {
	for text, want := range map[string]string{
		"1. a\n2. b":                         "ordered[a] [b] ",
		"- a\n- b":                           "bullet[a] [b] ",
		"3. a\n4. b\n\nc":                    "3. a\n4. b\nc",
		"0. a\n1. b":                         "0. a\n1. b",
		"Do:\n\n1. a\n   - x\n2. b":          "Do:\n1. a\nbullet[x] 2. b",
		"1. a\n\n   ```\n   x\n   ```\n2. b": "1. a\n[x]2. b",
		"1. a\n\nthen\n\n2. b":               "1. a\nthen\n2. b",
		"- a\n\n  3. x\n  4. y\n- b":         "bullet[a]     3. x\n    4. y\nbullet[b] ",
		"- a\n  1. x\n\n  z\n- b":            "bullet[a] ordered[x] z\nbullet[b] ",
		"> 2. a\n> 3. b":                     "2. a3. b",
	} {
		got := ""
		for _, b := range drawReply(doc.Parse(text)).blocks {
			for _, e := range b.(element).Elements {
				if style, ok := e.Style.(string); ok {
					got += style
				}
				for _, p := range e.Elements {
					if p.Type == "text" && e.Type != codeType {
						got += p.Text
					} else if p.Type == "text" {
						got += "[" + p.Text + "]"
					} else {
						got += "[" + p.Elements[0].Text + "] "
					}
				}
			}
		}
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q\n becomes %q\n want    %q", text, got, want)
		}
	}
}
