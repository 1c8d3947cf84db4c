package tools_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/tools"
	"gatehouse/core"
	"gatehouse/core/strictyaml"
	"gatehouse/core/tool"
)

// folder makes a folder with a script and the file of tools, and gives the path of the latter.
func folder(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"refund.sh": 0o700, "plain.txt": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\ncat\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "tools.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// environment are the variables of these tests.
var environment = map[string]string{
	"SHOP_TOKEN": "tok-12345678", "LANG": "C", "BROKEN": "a\nb", "PATH": "/usr/bin:/bin",
	"LONG_TOKEN": strings.Repeat("tok-123456", 100),
}

func options(t *testing.T, list ...string) tools.Options {
	return tools.Options{
		Hosts: hosts(t, append(list, "api.example.com")...), Taken: []string{"note.add"},
		Getenv: func(name string) (string, bool) { value, set := environment[name]; return value, set },
	}
}

// load loads tools that have no faults.
func load(t *testing.T, text string, list ...string) []tool.Tool {
	t.Helper()
	all, err := tools.Load(folder(t, text), options(t, list...))
	if err != nil {
		t.Fatal(err)
	}
	tool.NewRegistry(all...)
	return all
}

const shop = `version: 1
tools:
  - name: shop.refund
    description: Refunds an order.
    risk: destructive
    arguments:
      type: object
      properties: {amount: {type: number, exclusiveMinimum: 0}, customer: {type: string}, note: {type: string}}
      required: [amount, customer]
    summary: Refund {{amount}} to {{ customer }}
    timeout: 20s
    max_output: 4KiB
    idempotent: true
    command: [./refund.sh, --fast]
    dir: .
    env: [PATH, SHOP_TOKEN]
  - name: shop.orders
    description: Lists orders.
    risk: read
    http:
      method: GET
      url: https://api.example.com/orders?shop=1
      headers: {Authorization: "Bearer {{SHOP_TOKEN}}", Accept: application/json}
      secrets: [SHOP_TOKEN]
  - {name: shop.close, description: Closes the shop., risk: write, command: [sh, -c, exit]}
`

func TestLoad(t *testing.T) {
	all := load(t, shop)
	if len(all) != 3 {
		t.Fatalf("%d tools", len(all))
	}
	refund, orders, shut := all[0], all[1], all[2]
	if refund.Name != "shop.refund" || !refund.Mutating || refund.Risk != core.Dangerous || !refund.Idempotent ||
		refund.Timeout != 20*time.Second || refund.MaxOutput != 4096 || refund.Description != "Refunds an order." {
		t.Errorf("%+v", refund)
	}
	if orders.Mutating || orders.Risk != core.Ordinary || orders.Idempotent || !shut.Mutating ||
		shut.Risk != core.Ordinary {
		t.Errorf("%+v, %+v", orders, shut)
	}
	for _, c := range []struct {
		tool       tool.Tool
		args, want string
	}{
		{refund, `{"amount":12.50,"customer":"{{amount}}\n*Bob*"}`, "Refund 12.50 to {{amount}} *Bob*"},
		{
			refund, `{"amount":1,"customer":"` + strings.Repeat("x", 300) + `"}`,
			"Refund 1 to " + strings.Repeat("x", 200) + "…",
		},
		{shut, `{"a":{"b":[1, 2]},"c":"x"}`, `Run shop.close with a {"b":[1, 2]}, c x`},
		{shut, `{}`, "Run shop.close"},
	} {
		if got := c.tool.Summarize([]byte(c.args)); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
	if _, err := tool.NewRegistry(shut).Find(
		core.ToolCall{Name: "shop.close", Arguments: []byte(`{"a":1}`)}); core.CategoryOf(err) != core.ToolArguments {
		t.Errorf("a tool that declares no arguments takes some: %v", err)
	}
}

// TestFaults: each fault of a file names its line and the remedy, and all are reported at once.
// TestASentenceSaysNoValuesThatRunTogether: 20 and 0EUR would be read as 200EUR.
func TestASentenceSaysNoValuesThatRunTogether(t *testing.T) {
	for summary, want := range map[string]bool{
		"Pay {{n}} {{s}}": true, "Pay {{n}} (to {{s}})": true, "Pay “{{s}}”{{n}}": true, "Pay {{s}}": false,
		"Pay {{n}}{{s}}": false, "Pay {{ s }}/{{ n }}": false, "Pay {{n}}, {{s}}-{{n}}": false,
	} {
		one := load(t, "version: 1\ntools:\n  - name: shop.pay\n    description: Pays.\n    risk: write\n    "+
			"arguments:\n      type: object\n"+
			"      properties: {n: {type: number}, s: {type: string}}\n      required: [n, s]\n    summary: '"+summary+
			"'\n    command: [sh]\n    env: [PATH]\n")[0]
		if got := one.Says([]byte(`{"n":20,"s":"EUR"}`)); got != want {
			t.Errorf("%s: %v", summary, got)
		}
	}
}

func TestFaults(t *testing.T) {
	const head = "version: 1\ntools:\n  - name: a.b\n    description: d\n    risk: write\n" // five lines
	const run = "    command: [./refund.sh]\n"
	const get = "    http:\n      method: GET\n"
	const ask = "    http:\n      method: POST\n" // seven lines with head
	for name, c := range map[string]struct{ text, want string }{
		"empty": {"", "1: the file is empty; begin with version: 1, then tools"},
		"no YAML": {
			"version: 1\ntools: [\n",
			"2: the file is no valid YAML: did not find expected node content; correct the YAML there or " +
				"just before it",
		},
		"two documents": {
			"version: 1\n---\nversion: 1\n",
			"2:1: the file has several documents; remove the line --- and what follows it",
		},
		"no version": {
			"tools: [{name: a.b, description: d, risk: read, command: [./refund.sh]}]\n",
			"1:1: the version is missing; add version: 1",
		},
		"another version": {"version: 2\n", `1:10: unknown version "2"; write version: 1`},
		"an unknown key": {
			"version: 1\ntool: []\n", `2:1: unknown key "tool" in the file of tools; did you mean tools?`,
		},
		"no tools": {
			"version: 1\ntools: []\n",
			"2:8: tools is an empty list; add to it, such as - name: shop.refund, or leave the key out",
		},
		"a text": {
			"version: 1\ntools: [refund]\n", `2:9: a tool is "refund", not a mapping; write it as keys and values`,
		},
		"a bad name": {
			strings.Replace(head, "a.b", "refund", 1) + run,
			`3:11: the name "refund" can't be used; write it as plugin.function, with letters, digits, _ and - ` +
				`on both sides of the one dot, such as shop.refund`,
		},
		"a name twice": {
			head + run + "  - {name: a.b, description: d, risk: read, command: [./refund.sh]}\n",
			`7:12: the name "a.b" is that of two tools, in line 3 too; give each tool a name of its own`,
		},
		"a taken name": {
			strings.Replace(head, "a.b", "note.add", 1) + run,
			`3:11: the name "note.add" is that of a tool of gatehouse's own; choose another one`,
		},
		"a misspelt key": {
			head + run + "    timout: 1s\n", `7:5: unknown key "timout" in a tool; did you mean timeout?`,
		},
		"an unknown risk": {
			strings.Replace(head, "write", "dangerous", 1) + run,
			`5:11: unknown risk "dangerous"; use one of read, write, destructive`,
		},
		"a bad timeout": {
			head + run + "    timeout: 5\n", `7:14: timeout is "5"; write a duration of 1h or less, such as 30s`,
		},
		"a bad size": {
			head + run + "    max_output: 5MB\n",
			`7:17: max_output is "5MB"; write a size from 1KiB to 1MiB, such as 16KiB`,
		},
		"a bad flag": {
			head + run + "    idempotent: maybe\n", `7:17: idempotent is "maybe"; write true or false`,
		},
		"nothing to do": {
			head, "3:5: the tool has 0 of command and http; give it either command: [./refund.sh] or http: {method: " +
				"POST, url: …}",
		},
		"two things to do": {
			head + run + "    http: {method: GET, url: 'https://api.example.com/'}\n",
			"3:5: the tool has 2 of command and http; give it either command: [./refund.sh] or http: {method: POST, " +
				"url: …}",
		},
		"a shell": {
			head + "    command: ./refund.sh --fast\n",
			`6:14: command is "./refund.sh --fast", not a list; write it as a list, such as [./refund.sh, --fast]`,
		},
		"no such file": {
			head + "    command: [./pay.sh]\n",
			"6:14: there is no file DIR/pay.sh; correct the path, which starts at the folder of this file",
		},
		"no such program": {
			head + "    command: [no-such-program]\n",
			`6:14: there is no program "no-such-program" in PATH; install it, or write the path of a program`,
		},
		"not executable": {
			head + "    command: [./plain.txt]\n",
			"6:14: the file DIR/plain.txt is not executable; run chmod +x DIR/plain.txt",
		},
		"a folder": {head + "    command: [../]\n", "6:14: PARENT is a folder; name a program"},
		"no such folder": {
			head + run + "    dir: there\n",
			"7:10: there is no folder DIR/there; correct the path, which starts at the folder of this file, or " +
				"create the folder",
		},
		"an unset variable": {
			head + run + "    env:\n      - LANG\n      - SHOP_TOKN\n",
			"9:9: the variable SHOP_TOKN is not set; set it, or remove it from env",
		},
		"a value in env": {
			head + run + "    env: [LANG=C]\n",
			`7:11: "LANG=C" can't be used in env; write the name of a variable, such as PATH`,
		},

		"a wrong schema": {
			head + run + "    arguments:\n      type: object\n      properties:\n        amount:\n          type: " +
				"money\n", "11:17: the arguments are no JSON Schema: /properties/amount/type: value must be one of " +
				"'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'; write a JSON Schema, such as " +
				"{type: object, properties: {amount: {type: number}}, required: [amount]}",
		},
		"no object": {
			head + run + "    arguments: {amount: number}\n",
			`7:16: the arguments are no JSON Schema: its type must be object, as in {"type": "object", ` +
				`"properties": …}; write a JSON Schema, such as {type: object, properties: {amount: {type: number}}, ` +
				`required: [amount]}`,
		},
		"a file's schema": {
			head + run + "    arguments: {type: object, $ref: 'file:///etc/passwd'}\n",
			"7:16: the arguments are no JSON Schema: failing loading \"file:///etc/passwd\": a schema can't refer to " +
				"other documents; write a JSON Schema, such as {type: object, properties: {amount: {type: number}}, " +
				"required: [amount]}",
		},
		"a key twice": {
			head + run + "    arguments:\n      type: object\n      type: object\n",
			`9: the schema of the arguments can't be read: mapping key "type" already defined at line 8; correct it`,
		},

		"an unknown placeholder": {
			head + run + "    summary: Refund {{amount}}\n",
			"7:14: the summary's {{amount}} is no required argument; add it to properties and to required",
		},
		"an optional placeholder": {
			head + run + "    arguments: {type: object, properties: {a: {}, b: {}}, required: [b]}\n    summary: " +
				"Refund {{a}}\n", "8:14: the summary's {{a}} is no required argument; did you mean b? or add it to " +
				"properties and to required",
		},
		"odd braces": {
			head + run + "    summary: 'Refund {{amount'\n",
			"7:14: the summary has braces that are no placeholder; write each placeholder as {{amount}}",
		},

		"no method": {
			head + "    http:\n      url: https://api.example.com/\n",
			"7:7: the request has no method; add method: POST, or GET for one that reads",
		},
		"an unknown method": {
			head + "    http: {method: get, url: 'https://api.example.com/'}\n",
			`6:20: unknown method "get"; did you mean GET?`,
		},
		"an unlisted host": {
			head + ask + "      url: https://api.example.org/\n",
			"8:12: the host api.example.org is not in GATEHOUSE_FETCH_HOSTS; add api.example.org to it, or correct " +
				"the url",
		},
		"a secret's value": {
			head + ask + "      url: https://api.example.com/\n      secrets: [tok-12345678]\n",
			"9:17: an item of secrets is no name of a variable; write the name of a variable, never the secret itself",
		},
		"an unset secret": {
			head + ask + "      url: https://api.example.com/\n      headers: {X-A: '{{GONE}}'}\n      secrets: " +
				"[GONE]\n", "10:17: the variable GONE is not set; set it in the environment of gatehouse",
		},
		"a secret in lines": {
			head + ask + "      url: https://api.example.com/\n      headers: {X-A: '{{BROKEN}}'}\n      secrets: " +
				"[BROKEN]\n", "10:17: the value of the variable BROKEN can't be put into a header; set it to one " +
				"line of text",
		},
		"an unused secret": {
			head + ask + "      url: https://api.example.com/\n      secrets: [SHOP_TOKEN]\n",
			"9:17: the secret SHOP_TOKEN is not used; use it in headers, such as Authorization: Bearer " +
				"{{SHOP_TOKEN}}, or remove it",
		},
		"an unlisted secret": {
			head + ask + "      url: https://api.example.com/\n      headers: {X-A: '{{SHOP_TOKEN}}'}\n",
			"9:22: the header X-A uses {{SHOP_TOKEN}}, which is no secret of this tool; add it to secrets: " +
				"[SHOP_TOKEN]",
		},
		"a header of ours": {
			head + ask + "      url: https://api.example.com/\n      headers: {idempotency-key: x}\n",
			`9:17: the header "idempotency-key" can't be set here; remove it`,
		},
		"a property of the url": {
			head + get + "      url: https://api.example.com/?account=prod\n    arguments:\n      type: object\n     " +
				" properties:\n        to: {type: string}\n        account:\n          type: string\n",
			`13:9: the property "account" is fixed in the query of the url; remove the property, or take ` +
				`"account" out of the url`,
		},
		"an escaped name": {
			head + "    arguments: {type: object, properties: {account: {}}, required: [account]}\n" + get +
				"      url: https://api.example.com/?acc%6Funt\n",
			`6:44: the property "account" is fixed in the query of the url; remove the property, or take ` +
				`"account" out of the url`,
		},
		"one of several": {
			head + get + "      url: https://api.example.com/?x=1&a%5Bb%5D=1&x=2\n    arguments: {type: object, " +
				"properties: {'a[b]': {}}}\n",
			`9:44: the property "a[b]" is fixed in the query of the url; remove the property, or take "a[b]" out ` +
				`of the url`,
		},
		"a query that is dropped": {
			head + get + "      url: https://api.example.com/?a=1;account=prod\n",
			"8:12: the query of this url can't be read; write it as ?name=value&other=value, and other characters as " +
				"%XX",
		},
		"a query that is no query": {
			head + get + "      url: https://api.example.com/?account=%zz\n",
			"8:12: the query of this url can't be read; write it as ?name=value&other=value, and other characters as " +
				"%XX",
		},

		"a folder of http": {
			head + ask + "      url: https://api.example.com/\n    dir: .\n",
			"9:5: dir belongs to tools with a command; remove it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := folder(t, c.text)
			_, err := tools.Load(file, options(t))
			want := strings.NewReplacer("DIR", filepath.Dir(file),
				"PARENT", filepath.Dir(filepath.Dir(file))).Replace(c.want)
			if core.CategoryOf(err) != core.Invalid || err.Error() != file+":"+want {
				t.Errorf("got  %v\nwant %s:%s", err, file, want)
			}
		})
	}
	all := folder(t, "version: 3\ntools:\n  - {name: x, risk: big}\n  - {}\n")
	var faults strictyaml.Faults
	if _, err := tools.Load(all, options(t)); !errors.As(err, &faults) || len(faults) != 9 {
		t.Errorf("%v", err)
	}
	if _, err := tools.Load(filepath.Join(t.TempDir(), "gone.yaml"), options(t)); err == nil ||
		!strings.HasSuffix(err.Error(),
			"gone.yaml: the file can't be read: no such file or directory; correct the path, or let gatehouse read "+
				"the file") {
		t.Errorf("%v", err)
	}
}

// FuzzLoad: no text makes Load panic, and what it gives is valid.
func FuzzLoad(f *testing.F) {
	f.Add(shop)
	f.Add("version: 1\ntools: [&a {name: a.b, description: d, risk: read, arguments: *a, command: [sh]}]\n")
	f.Add("version: 1\ntools:\n  - {name: a.b, description: d, risk: read, command: [sh], arguments: {type: object, " +
		"1: .nan, <<: {}}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := tools.Load(folder(t, text), options(t))
		var faults strictyaml.Faults
		if err != nil && !errors.As(err, &faults) {
			t.Errorf("%v", err)
		}
		tool.NewRegistry(all...)
	})
}
