package markup_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
)

const rest = ` rel="noopener noreferrer nofollow" target="_blank">`

func TestMarkdownBecomesHTML(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"milk & bread":           "<p dir=\"auto\">milk &amp; bread</p>\n",
		"one\ntwo  \nthree":      "<p dir=\"auto\">one<br>\ntwo<br>\nthree</p>\n",
		"a &amp; \\*b\\* &#x41;": "<p dir=\"auto\">a &amp;amp; *b* &amp;#x41;</p>\n",
		"**a** *b* ~~c~~ `d<e`": "<p dir=\"auto\"><strong>a</strong> <em>b</em> <del>c</del> " +
			"<code translate=\"no\">d&lt;e</code></p>\n",
		"# A\n## B\n###### C": "<h3 dir=\"auto\">A</h3>\n<h4 dir=\"auto\">B</h4>\n<h5 dir=\"auto\">C</h5>\n",
		"### A\n# B\n> ### C\n\n## D": "<h3 dir=\"auto\">A</h3>\n<h3 dir=\"auto\">B</h3>\n" +
			"<blockquote dir=\"auto\"><h4>C</h4>\n" +
			"</blockquote>\n<h4 dir=\"auto\">D</h4>\n",
		"- a\n- b":         "<ul dir=\"auto\"><li>a</li>\n<li>b</li>\n</ul>\n",
		"3. a\n4. b":       "<ol dir=\"auto\" start=\"3\"><li>a</li>\n<li>b</li>\n</ol>\n",
		"1. a\n   - b":     "<ol dir=\"auto\"><li>a\n<ul><li>b</li>\n</ul>\n</li>\n</ol>\n",
		"- [x] a\n- [ ] b": "<ul dir=\"auto\"><li>☑ a</li>\n<li>☐ b</li>\n</ul>\n",
		"> a\n\n---":       "<blockquote dir=\"auto\"><p>a</p>\n</blockquote>\n<hr>\n",
		"```go\n\ta := <-b\n\n# c\n": "<div class=\"code\" data-lang=\"go\"><pre tabindex=\"0\" " +
			"translate=\"no\" dir=\"ltr\"><code>\ta := &lt;-b\n\n# c\n</code></pre></div>\n",
		"    indented": "<div class=\"code\"><pre tabindex=\"0\" translate=\"no\" dir=\"ltr\">" +
			"<code>indented\n</code></pre></div>\n",
		"|a|b|\n|-:|:-:|\n|1|`x\\|y`|": "<div class=\"table\" tabindex=\"0\"><table dir=\"auto\"><thead><tr><th " +
			"class=\"right\">a</th>\n<th class=\"center\">b</th>\n</tr>\n</thead>" +
			"<tr><td class=\"right\">1</td>\n<td class=\"center\"><code translate=\"no\">x|y</code></td>\n" +
			"</tr>\n</table>\n</div>\n",
		"<b onclick=x>*a*</b>":          "<p dir=\"auto\">&lt;b onclick=x&gt;<em>a</em>&lt;/b&gt;</p>\n",
		"<script>\nalert(1)\n</script>": "<p dir=\"auto\">&lt;script&gt;<br>\nalert(1)<br>\n&lt;/script&gt;</p>\n",
		"nul \x00 and \xff":             "<p dir=\"auto\">nul  and \ufffd</p>\n",
		"[a *b*](https://x.example/?a=1&b)": "<p dir=\"auto\"><a href=\"https://x.example/?a=1&amp;b\"" + rest +
			"a <em>b</em></a></p>\n",
		"[a](HTTP://x.example \"title\")": "<p dir=\"auto\"><a href=\"http://x.example\"" + rest + "a</a></p>\n",
		"see https://x.example/a.": "<p dir=\"auto\">see <a href=\"https://x.example/a\"" + rest +
			"https://x.example/a</a>.</p>\n",
		"www.x.example": "<p dir=\"auto\"><a href=\"http://www.x.example\"" + rest +
			"www.x.example</a></p>\n",
		"<ann@x.example>": "<p dir=\"auto\"><a href=\"mailto:ann@x.example\"" + rest +
			"ann@x.example</a></p>\n",
		"[a](javascript:alert(1))":           "<p dir=\"auto\">a (javascript:alert(1))</p>\n",
		"[a](java&#115;cript&colon;x)":       "<p dir=\"auto\">a (java&amp;#115;cript&amp;colon;x)</p>\n",
		"[a](data:text/html,x) <ftp://x.yz>": "<p dir=\"auto\">a (data:text/html,x) ftp://x.yz</p>\n",
		"[a](/logout) [b](//x.example)":      "<p dir=\"auto\">a (/logout) b (//x.example)</p>\n",
		"[a](https://bank.example@evil.x)":   "<p dir=\"auto\">a (https://bank.example@evil.x)</p>\n",
		"[a](https:x) [b](http:///x)":        "<p dir=\"auto\">a (https:x) b (http:///x)</p>\n",
		"![a *b*](https://x.example/i.png)": "<p dir=\"auto\">image: <a href=\"https://x.example/i.png\"" + rest +
			"a <em>b</em></a></p>\n",
		"![a](http://x.example/i.png)": "<p dir=\"auto\">image: <a href=\"http://x.example/i.png\"" + rest +
			"a</a></p>\n",
		"![a](data:image/png;base64,AA)": "<p dir=\"auto\">image: a (data:image/png;base64,AA)</p>\n",
		"[![a](https://x.example/i)](https://x.example)": "<p dir=\"auto\"><a href=\"https://x.example\"" + rest +
			"image: a (https://x.example/i)</a></p>\n",
	} {
		if got := string(markup.HTML(doc.Parse(text))); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestBoundedTexts: what would take long is shown without markup, and at once. Nothing becomes large: no reference
// repeats a link.
func TestBoundedTexts(t *testing.T) {
	const size = 64 << 10
	full := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, text := range map[string]string{
		"long":            strings.Repeat("a", size+1),
		"quotes":          full(">"),
		"quotes, spaced":  full("> "),
		"lists":           full("1. "),
		"mixed":           full("> - "),
		"brackets":        full("["),
		"nested brackets": strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"links":           full("[a]("),
		"images":          full("![a]("),
		"delimiters":      full("*a_ "),
		"strikes":         full("~a~~b "),
		"table": strings.Repeat("a|", 500) + "\n" + strings.Repeat("-|", 500) +
			"\n" + strings.Repeat("a\n", size/2-2000),
		"one long link": "[a]: https://x.example/" + strings.Repeat("x", 1900) +
			"\n\n" + strings.Repeat("[a]\n\n", 3000),
	} {
		begun := time.Now()
		got := string(markup.HTML(doc.Parse(text)))
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if !strings.HasPrefix(got, "<p ") || strings.Contains(got, "<a") && name != "one long link" ||
			len(got) > 6*size {
			t.Errorf("%s became %d bytes: %.80q", name, len(got), got)
		}
	}
}

// TestManySignsInCode: code and long texts may have any number of signs.
func TestManySignsInCode(t *testing.T) {
	code := "```\n" + strings.Repeat("[1, 2]*_\n", 1000) + "```\n\n*a*\n"
	if got := string(markup.HTML(doc.Parse(code))); !strings.Contains(got, "<em>a</em>") {
		t.Errorf("%.80q", got)
	}
}
