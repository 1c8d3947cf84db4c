package draw

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// asWords are leaves in which code within a line is words: Discord has no form for some of it.
func asWords(all []adaptertest.Leaf) []adaptertest.Leaf {
	for i := range all {
		if all[i].Kind == adaptertest.Inline {
			all[i].Kind = adaptertest.Words
		}
	}
	return adaptertest.Joined(all)
}

func replyLeaves(text string) []adaptertest.Leaf {
	return asWords(adaptertest.Leaves(replyForms.Drawable(doc.Parse(text))))
}

var (
	readCode    = regexp.MustCompile("(?s)^```(?:[A-Za-z0-9_+.#-]+)?\n(.*?\n)```(?:\n|$)")
	readFile    = regexp.MustCompile(`^\(see (code-\d+\.\w+)\)(?:\n|$)`)
	readText    = regexp.MustCompile(`(?s)^-# code-\d+\.\w+:\n(.*?\n)` + noFiles)
	readHeading = regexp.MustCompile(`^#{1,3} (.*)`)
	readItem    = regexp.MustCompile(`^ *(?:(-)|(\d+)\.)(?: |$)`)
)

// readReply reads the leaves of a reply from a message as Discord would show it.
func readReply(text string, files map[string]string) (all []adaptertest.Leaf) {
	for text != "" {
		if code := readCode.FindStringSubmatch(text); code != nil {
			all, text = append(all, adaptertest.Leaf{Kind: adaptertest.Code, Text: code[1]}), text[len(code[0]):]
			continue
		}
		if name := readFile.FindStringSubmatch(text); name != nil {
			all, text = append(all, adaptertest.Leaf{Kind: adaptertest.Code, Text: files[name[1]]}), text[len(name[0]):]
			continue
		}
		if code := readText.FindStringSubmatch(text + "\n"); code != nil {
			all, text = append(all, adaptertest.Leaf{Kind: adaptertest.Code, Text: shownWords(code[1])}),
				strings.TrimPrefix(text+"\n", code[0])
			continue
		}
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		line = strings.TrimPrefix(line, "> ")
		if heading := readHeading.FindStringSubmatch(line); heading != nil {
			all = append(all, adaptertest.Leaf{Kind: adaptertest.Heading, Text: shownWords(heading[1])})
			continue
		}
		for item := readItem.FindStringSubmatch(line); item != nil; item = readItem.FindStringSubmatch(line) {
			all, line = append(all, adaptertest.Leaf{Kind: adaptertest.Item, Text: item[1] + item[2]}),
				line[len(item[0]):]
		}
		all = append(all, adaptertest.Leaf{Kind: adaptertest.Words, Text: shownWords(line)})
	}
	return all
}

// shownWords is a line of Markdown as Discord shows it.
func shownWords(line string) string {
	var b strings.Builder
	for line != "" {
		n := 1
		switch code, url, angle := codeAt(line), ruleURL.FindString(line), ruleAngle.FindString(line); {
		case code != "":
			b.WriteString(strings.Trim(code, "`"))
			n = len(code)
		case ruleEscape.MatchString(line):
			b.WriteByte(line[1])
			n = 2
		case angle != "":
			b.WriteString(angle[1 : len(angle)-1])
			n = len(angle)
		case url != "":
			b.WriteString(url)
			n = len(url)
		case line[0] == '*' || line[0] == '~':
		default:
			b.WriteByte(line[0])
		}
		line = line[n:]
	}
	return b.String()
}

func filesOf(m Message) map[string]string {
	files := map[string]string{}
	for _, f := range m.Files {
		files[f.name] = f.text
	}
	return files
}

// TestRepliesAreReadBack: whatever a model writes, all of it is in what Discord gets, and nothing is altered.
func TestRepliesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := adaptertest.AnyMarkdown(t)
		var got, plain []adaptertest.Leaf
		all := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}})
		for _, m := range all {
			if len(m.Files) > maxFiles {
				t.Fatalf("%d files", len(m.Files))
			}
			if found := misleading(m.Text); found != "" {
				t.Fatalf("it shows %q: %q", found, m.Text)
			}
			if found := cmp.Or(liveToken(m.Plain), liveLink(m.Plain)); found != "" ||
				safetext.Units(m.Plain) > MaxReply {
				t.Fatalf("without files it shows %q: %q", found, m.Plain)
			}
			got = append(got, readReply(m.Text, filesOf(m))...)
			plain = append(plain, readReply(cmp.Or(m.Plain, m.Text), nil)...)
		}
		want := replyLeaves(text)
		if len(all) > 1 { // what stands in an item as bold words is a heading where the item was cut above it
			for _, leaves := range [][]adaptertest.Leaf{want, got, plain} {
				for i := range leaves {
					if leaves[i].Kind == adaptertest.Heading {
						leaves[i].Kind = adaptertest.Words
					}
				}
			}
			want = adaptertest.Joined(want)
		}
		adaptertest.SameLeaves(t, text, want, asWords(plain))
		adaptertest.SameLeaves(t, text, want, asWords(got))
	})
}

// TestNoEmphasisEndsInCode that follows it, as it could where Discord does not read a mark as the end of a style.
func TestNoEmphasisEndsInCode(t *testing.T) {
	const code = "\n\n```\nrm -f build[0-9][0-9]*.log\ngrid[i][j] = f[n](e)*\n```"
	for text, want := range map[string]string{
		"*it `c` it**it `c` it***bold**": "*it* `c` *it*it `c` ***it***bold\\*\\*",
		"*c **d** e*f":                   "*c* ***d*** *e*f",
		"*a**b**c*d":                     "*a*b*c*d",
		"*\\*a*b":                        "\\*ab",
		"*\\\\ x*a":                      "\\\\ xa",
		"**\\*a**b":                      "**\\*a**b",
	} {
		got := drawReply(doc.Parse(text + code)).Text
		if shown, _, _ := strings.Cut(got, "\n"); shown != want || misleading(got) != "" || liveLink(got) != "" {
			t.Errorf("%q\n becomes %q\n want    %q", text, got, want)
		}
		adaptertest.SameLeaves(t, text+code, replyLeaves(text+code), asWords(readReply(got, nil)))
	}
}

// TestTablesAreAligned where they are narrow, else a list of their rows.
func TestTablesAreAligned(t *testing.T) {
	wide := strings.Repeat("wide ", 12)
	for text, want := range map[string]string{
		"|Plan|Price|\n|:-|-:|\n|**Basic**|5|\n|漢字|12|": "```\nPlan  | Price\n------|------\nBasic |     5\n漢字  " +
			"|    12\n```",
		"|Plan|Notes|\n|-|-|\n|**Basic**|`x` " + wide + "|": "- **Plan:** **Basic** · **Notes:** `x` " +
			strings.TrimSpace(wide),
		"|a|\n|-|\n|`` ```x ``|": "- **a:** \\`\\`\\`x",
	} {
		if got := drawReply(doc.Parse(text)).Text; got != want {
			t.Errorf("%q\n becomes %q\n want    %q", text, got, want)
		}
	}
}

// TestCodeWithinALine is between backticks that it does not end, or words.
func TestCodeWithinALine(t *testing.T) {
	for code, want := range map[string]string{
		"a[i](x)": "`a[i](x)`", "a`b": "``a`b``", "a``b": "`a``b`", "a```b": "`a```b`", "a`b``c": "", "`a": "",
		"a`": "", " a": "", " ": "", "\\": "`\\`",
	} {
		if got := codeOf(doc.Span{Kind: doc.Code, Text: code}); got != want {
			t.Errorf("%q becomes %q, want %q", code, got, want)
		}
	}
	if got, want := drawReply(doc.Parse("**a `x` b** *c **d** e*~~f~~ `g``h`")).Text,
		"**a** `x` **b** *c* ***d*** *e*f `g``h`"; got != want {
		t.Error(got, fmt.Sprintf("want %q", want))
	}
}

// TestAnIndentedNumberIsNoItem: Discord would count on from the first one.
func TestAnIndentedNumberIsNoItem(t *testing.T) {
	if got := drawReplies("✅ Approved\n  5. x\n  9. y", nil); len(got) != 1 ||
		got[0].Text != "✅ Approved\n  5\\. x\n  9\\. y" {
		t.Errorf("%+v", got)
	}
}

// TestAnswersFromTheField are read back from what is drawn.
func TestAnswersFromTheField(t *testing.T) {
	adaptertest.FieldAnswers(t, func(t *testing.T, text string) {
		m := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}})[0]
		adaptertest.SameLeaves(t, text, replyLeaves(text), asWords(readReply(m.Text, filesOf(m))))
	})
}

// TestCodeThatNoFileHoldsIsRead where no file may be attached: nothing of it is lost.
func TestCodeThatNoFileHoldsIsRead(t *testing.T) {
	const text = "Use:\n\n````markdown\n# T\n```sh\nls *.go >  x[0]\n  - @me " +
		"https://x.example/a_b\n```\n````\n\nand\n\n~~~\n\n```\n~~~\n"
	m := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}})[0]
	adaptertest.SameLeaves(t, text, replyLeaves(text), asWords(readReply(m.Plain, nil)))
}
