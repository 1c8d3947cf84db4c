package policy_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/approvals/policy"
	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// checkParse checks what holds for every text: there is a policy or there are faults, never both, and a policy decides
// every call.
func checkParse(t interface{ Errorf(string, ...any) }, text string) {
	p, err := policy.Parse("p.yaml", []byte(text), policy.Defaults{Platforms: known, Approvers: []string{"slack:U9"}})
	var faults strictyaml.Faults
	switch {
	case (p == nil) == (err == nil):
		t.Errorf("%q: policy %v, error %v", text, p, err)
		return
	case err != nil && (!errors.As(err, &faults) || len(faults) == 0 || core.CategoryOf(err) != core.Invalid):
		t.Errorf("%q: the error is %#v", text, err)
	}
	lines := 2
	for _, r := range text {
		if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
			lines++
		}
	}
	for _, f := range faults {
		if f.File != "p.yaml" || f.What == "" || f.Do == "" || f.Line < 0 || f.Line > lines ||
			strings.Contains(f.String(), "\n") {
			t.Errorf("%q: the fault %q", text, f.String())
		}
	}
	if p == nil {
		return
	}
	for _, w := range p.Warnings(shopTools, []string{"later"}) {
		if w.File != "p.yaml" || w.What == "" || w.Do == "" || w.Line < 1 || strings.Contains(w.String(), "\n") {
			t.Errorf("%q: the warning %q", text, w.String())
		}
	}
	for _, args := range []string{`{}`, `{"amount":2000,"env":"prod","l":[1,"a"]}`, `x`} {
		for _, risk := range []core.Risk{core.ReadOnly, core.Ordinary, core.Dangerous} {
			r := p.Rule(core.Turn{Actor: core.Actor{ID: "slack:U1"}},
				core.Call{Tool: "billing.refund", Risk: risk, Arguments: json.RawMessage(args)})
			if r.Verdict != core.VerdictAllow && r.Verdict != core.VerdictAsk && r.Verdict != core.VerdictDeny ||
				r.Verdict == core.VerdictAsk && len(r.Approvers) == 0 {
				t.Errorf("%q: %+v", text, r)
			}
		}
	}
}

// TestParseNeverPanics: on texts that are nearly policies.
func TestParseNeverPanics(t *testing.T) {
	words := []string{
		"version: 1\n", "people:\n", "groups:\n", "rules:\n", "  ann: [slack:U1]\n", "  ops: [person:ann, group:ops]\n",
		"  - name: a\n", "    action: ask\n", "    action: allow\n",
		"    when: args.amount > 1000\n", "    when: |\n      args.env == \"prod\"\n",
		"    approvers: [group:ops, slack:S1]\n", "    quorum: 2\n", "    expires: 1d\n",
		"    escalate: {after: 1h, to: [slack:U1]}\n", "    notify: dm\n", "    remind: [1h]\n",
		"    remember: {for: 1h}\n", "---\n", "&a ", "*a", "{", "}", "[", "]", ": ", "- ", "\n", "!!binary ", "\x00",
		"\xff", "\ufeff",
		"when: '", "'", "\"", "|\n", "? ", "<<: ", "~", "# x\n", "\t",
	}
	rapid.Check(t, func(t *rapid.T) {
		checkParse(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 30).Draw(t, "text"), ""))
	})
}

// TestConditionsNeverPanic: on expressions of any form.
func TestConditionsNeverPanic(t *testing.T) {
	words := []string{
		"args", ".amount", "?.env", "[0]", "[\"l\"]", "tool", "risk", "requester", ".id", ".groups", "conversation",
		" == ", " != ", " > ", " in ", " not in ", " && ", " || ", " ?? ", " ? ", " : ", "!", "-", " + ",
		" * ", "1", "2.5", "\"x\"", "nil", "true", "(", ")", "[", "]", ", ", "len(", "any(", "sum(", "#", ".", "..",
		"let x = ", "; ", "x", "{", "}", "|", " matches ", " contains ", "int(", "abs(", "map(", "get(", "'", "`",
		"if ", "else",
	}
	rapid.Check(t, func(t *rapid.T) {
		when, _ := json.Marshal(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 12).Draw(t, "condition"), ""))
		action := rapid.SampledFrom([]string{"allow", "ask", "deny"}).Draw(t, "action")
		checkParse(t, "version: 1\nrules:\n  - name: a\n    action: "+action+"\n    when: "+string(when)+"\n")
	})
}

// FuzzParse: no text is a policy and has faults, and none makes Parse panic.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		shop, head, "", "version: 1\n",
		"a: &a [*a]\n", head + "  - {name: a, action: deny, when: 'args.x[0]?.y ?? 1 in 1..2'}\n",
		"version: 1\n---\nversion: 1\n", "version: 1\nrules: [[[[[[{}]]]]]]\n",
		"version: 1\ngroups:\n  a: [group:b]\n  b: [group:a, local, console:x]\n",
		head + "  - {name: a, action: ask, notify: [dm, discord:1], approvers: [openharness:ann, " +
			"openharness:x.Y_z-1, openharness:local], remind: [1d], escalate: {after: 1h, to: [local]}}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkParse(t, text) })
}

// TestCurrent: a changed file is in force once it is read again; an invalid one changes nothing.
func TestCurrent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verdict := func(c *policy.Current) core.Verdict { return c.Rule(core.Turn{}, core.Call{}).Verdict }
	write("version: 1\nrules: [{name: a, action: allow}]\n")
	c, err := policy.Open(file, policy.Defaults{Platforms: known, Approvers: []string{"slack:U1"}})
	if err != nil || verdict(c) != core.VerdictAllow || c.Path() != file {
		t.Fatalf("%v, %v", verdict(c), err)
	}
	write("version: 1\nrules: [{name: a, action: deny}]\n")
	if verdict(c) != core.VerdictAllow {
		t.Error("it was read without being told to")
	}
	again := func() error {
		read, err := policy.Open(file, policy.Defaults{Platforms: known})
		if err == nil {
			c.Use(read)
		}
		return err
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 100 {
				verdict(c)
			}
		})
	}
	if err := again(); err != nil || verdict(c) != core.VerdictDeny {
		t.Errorf("%v, %v", verdict(c), err)
	}
	readers.Wait()
	for _, bad := range []string{"version: 2\n", "", "rules: [}"} {
		write(bad)
		if err := again(); core.CategoryOf(err) != core.Invalid || verdict(c) != core.VerdictDeny {
			t.Errorf("%q: %v, %v", bad, verdict(c), err)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := again(); core.CategoryOf(err) != core.Invalid || verdict(c) != core.VerdictDeny {
		t.Errorf("without the file: %v, %v", verdict(c), err)
	}

	if c, err := policy.Open(file, policy.Defaults{Platforms: known}); err == nil || verdict(c) != core.VerdictDeny {
		t.Errorf("a missing file: %v, %v", verdict(c), err)
	}
	if c, err := policy.Open("", policy.Defaults{Platforms: known, Approvers: []string{"slack:U1"}}); err != nil ||
		verdict(c) != core.VerdictAsk || len(c.Approvers()) != 1 ||
		c.RequesterGroups("slack:U1") != nil {
		t.Errorf("no file: %v, %v", verdict(c), err)
	}
}
