package web_test

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

func edits(arguments string) func(*core.Approval) {
	return func(a *core.Approval) {
		a.Rule.Edit, a.Call.Arguments = true, json.RawMessage(arguments)
		a.Call.Digest, _ = tool.Digest(a.Call.Tool, a.Call.Arguments)
	}
}

// TestTheJSONOfArgumentsIsChangedOnThePage: what is refused is shown again as it was typed, and says why.
func TestTheJSONOfArgumentsIsChangedOnThePage(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1", edits(`{"text":"buy milk"}`))
	for _, choice := range []string{"edit", "change"} {
		post := func(changed string, status int, texts ...string) {
			t.Helper()
			expect(t, s.post("bob", "/approvals/a1", "choice="+choice, "edits=0", "changed="+changed), status, texts...)
		}
		post(`{"text":"buy <milk"`, http.StatusBadRequest, `role="alert"`, "must be a JSON object",
			"{&#34;text&#34;:&#34;buy &lt;milk&#34;</textarea>")
		post(`{“text”:“buy <milk”}`, http.StatusBadRequest, `role="alert"`, "Curly quotes",
			"{&#34;text&#34;:&#34;buy &lt;milk&#34;}</textarea>")
		post(`{“text”:“it’s ‘milk’”}`, http.StatusBadRequest, "Curly quotes",
			"{&#34;text&#34;:&#34;it’s ‘milk’&#34;}</textarea>")
		post(`{“text”:"he said “hi”"}`, http.StatusBadRequest, "!Curly quotes",
			"{“text”:&#34;he said “hi”&#34;}</textarea>")
	}
	expect(t, s.post("ann", "/approvals/a1", "choice=edit", "edits=0", "changed={}"), http.StatusForbidden)
	if a.Edits() != 0 || s.decided != 0 {
		t.Fatalf("%+v", a)
	}
	expect(t, s.post("bob", "/approvals/a1", "choice=edit", "edits=0", "changed={\"text\":\r\n\"buy bread\"}"),
		http.StatusSeeOther)
	if got := string(a.Call.Arguments); got != "{\"text\":\n\"buy bread\"}" {
		t.Errorf("the arguments are %s", got)
	}
}

// TestArgumentsAreChangedInFields, one for each: what nobody touched stays as it is, to the letter.
func TestArgumentsAreChangedInFields(t *testing.T) {
	s := newSite(t)
	const before = `{"text":"buy <milk>","n":1.50,"loud":true,"to":["a"],"lines":"a\nb","odd":"a\u202eb"}`
	a := s.desk.open("a1", edits(before))
	expect(t, s.get("ann", "/approvals/a1?edit=1"), http.StatusOK, "!changing")
	expect(t, s.get("bob", "/approvals/a1"), http.StatusOK, "Edit…", `href="/approvals/a1?edit=1"`, "!changing")
	expect(t, s.get("bob", "/approvals/a1?edit=1"), http.StatusOK, "changing",
		`name="argument.text" value="buy &lt;milk&gt;"`,
		`type="number" step="any" required id="argument-2-a1" name="argument.n" value="1.50"`,
		`name="argument.loud" value="true" checked`, "[\n  &#34;a&#34;\n]</textarea>", "\na\nb</textarea>",
		`&#34;a\u202eb&#34;</textarea>`, "!class=\"decision\"")
	base := s.base("bob", "/approvals/a1?edit=1")
	fields := func(choice string, more ...string) []string {
		return append([]string{
			"choice=" + choice, "edits=0", "fields=yes", "changed=" + base,
			"argument.n=1.50", "argument.to=[\r\n  \"a\"\r\n]",
			"argument.lines=a\r\nb", `argument.odd="a\u202eb"`,
		}, more...)
	}
	expect(t, s.post("bob", "/approvals/a1", fields("change", "argument.text=buy <milk>", "argument.loud=true")...),
		http.StatusOK, "!<del>")
	expect(t, s.post("bob", "/approvals/a1", fields("change", "argument.text=nonsense")...), http.StatusBadRequest,
		"no such thing", `id="argument-4-a1-fault"`, `value="nonsense"`, `name="argument.loud" value="true">`)
	wrong := fields("change", "argument.text=buy bread")
	wrong[4], wrong[5] = "argument.n=many", "argument.to=[a"
	expect(t, s.post("bob", "/approvals/a1", wrong...), http.StatusUnprocessableEntity,
		"must be a number", "must be JSON",
		`value="many"`, "[a</textarea>", `value="buy bread"`, "!<del>")
	changed := s.post("bob", "/approvals/a1", fields("change", "argument.text=buy bread")...)
	expect(t, changed, http.StatusOK, "<del>buy &lt;milk&gt;</del>", "<ins>buy bread</ins>", "<del>true</del>",
		"<ins>false</ins>", "!<del>1.50", "!<del>[", `value="edit"`)
	expect(t, s.post("bob", "/approvals/a1", fields("json", "argument.text=buy bread")...), http.StatusOK,
		"&#34;loud&#34;: false,\n  &#34;n&#34;: 1.50,\n", "&#34;text&#34;: &#34;buy bread&#34;,\n", "</textarea>")
	text := valueOf(t, changed, "changed")
	expect(t, s.post("bob", "/approvals/a1", "choice=fields", "edits=0", "changed="+text), http.StatusOK,
		`name="argument.text" value="buy bread"`, `name="argument.loud" value="true">`)
	if a.Edits() != 0 {
		t.Fatalf("nothing is sent yet: %+v", a)
	}
	expect(t, s.post("bob", "/approvals/a1", "choice=edit", "edits=0", "changed="+text), http.StatusSeeOther)
	const want = `{"lines":"a\nb","loud":false,"n":1.50,"odd":"a\u202eb","text":"buy bread","to":["a"]}`
	if got := compact(t, a.Call.Arguments); got != want {
		t.Errorf("the arguments are %s", got)
	}
	expect(t, s.get("bob", "/approvals/a1"), http.StatusOK, "text buy &lt;milk&gt; → buy bread")
	expect(t, s.post("bob", "/approvals/a1", fields("change", "argument.text=buy oil")...), http.StatusConflict,
		core.ErrChanged.Message, `value="buy oil"`, `name="edits" value="1"`)
	expect(t, s.post("bob", "/approvals/a1", "choice=edit", "edits=0", "changed="+text), http.StatusConflict,
		core.ErrChanged.Message, `value="buy bread"`)
}

// TestWhatIsMaskedIsNotChanged: it has no field, and nobody is offered one.
func TestWhatIsMaskedIsNotChanged(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1", edits(`{"text":"milk","password":"hunter2-hunter2"}`))
	expect(t, s.get("bob", "/approvals/a1?edit=1"), http.StatusOK, "!changing", "!Edit…", "!hunter2")
	for _, choice := range []string{"json", "fields", "change", "edit"} {
		w := s.post("bob", "/approvals/a1", "choice="+choice, "edits=0", `changed={"text":"bread"}`)
		expect(t, w, w.Code, "!changing", "!hunter2")
	}
	if a.Edits() != 0 {
		t.Errorf("%+v", a)
	}
}

// base is what the fields of a page were filled with.
func (s *site) base(who, path string) string {
	s.t.Helper()
	return valueOf(s.t, s.get(who, path), "changed")
}

// valueOf is the value of a page's hidden field.
func valueOf(t *testing.T, w *httptest.ResponseRecorder, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(w.Body.String(), `type="hidden" name="`+name+`" value="`)
	value, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("there is no field %s: %s", name, excerpt(w.Body.String()))
	}
	return html.UnescapeString(value)
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
