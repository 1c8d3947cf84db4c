package expr_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"gatehouse/core/hrf/expr"
	"gatehouse/core/strictjson"
)

// scope is what the tables look up.
var scope = expr.Scope{
	Vars: object(
		`{"n": 5, "neg": -2.50, "s": "abc", "num": "5", "yes": true, "no": false, "nil": null, "blank": " ", ` +
			`"list": [{"name": "a", "x": {"y": 1}}, {"name": null}, 3, {}],
		"o": {"Key": {"k": "v"}, "length": 9}, "empty": [], "eo": {}, "Name": "upper", "größe": "é👍", "big": ` +
			`9007199254740993, "far": 1e99999999999999999999, "a-b": 1}`),
	Input: object(`{"text": "hello there", "Count": "10", "words": ["hello", "there"]}`),
}

func object(text string) map[string]any {
	return parse(text).Any().(map[string]any)
}

func parse(text string) *strictjson.Value {
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func TestExpressionsGiveValues(t *testing.T) {
	for text, want := range map[string]string{
		"$vars.n":                             "5",
		"  $input.text  ":                     `"hello there"`,
		"$vars.N":                             "5", // a variable in any case
		"$vars.name":                          `"upper"`,
		"$input.count":                        "null", // an input by its exact name
		"$input.Count":                        `"10"`,
		"$vars.o.Key.k":                       `"v"`,
		"$vars.o.key.k":                       "null", // names within values are exact
		"$vars.missing.a.b":                   "null",
		"$vars.s.a":                           "null",
		"$vars.list[0].x.y":                   "1",
		"$vars.list[9]":                       "null",
		"$vars.o[0]":                          "null",
		"$vars.list.length":                   "4",
		"$vars.s.length":                      "3",
		"$vars.o.length":                      "9",
		"$vars.eo.length":                     "null",
		"$vars.größe":                         `"é👍"`,
		"$vars.a-b":                           "1",
		"$input.words[1]":                     `"there"`,
		"$len($vars.list)":                    "4",
		"$len(vars.list)":                     "4",
		"$len( input.text )":                  "11",
		"$len(vars.größe)":                    "2", // characters
		"$len(vars.n)":                        "0",
		"$len(vars.o)":                        "0",
		"$len(vars.missing)":                  "0",
		"$len('a)b')":                         "3",
		"$map(vars.list, 'name')":             `["a",null]`,
		"$map($vars.list,\"x\")":              `[{"y":1}]`,
		"$map(vars.n, 'name')":                "[]",
		"$len($map(vars.list, 'name'))":       "2",
		"$map($map(vars.list,'x'), 'y')":      "[1]",
		"$len($map($map(vars.list,'x'),'y'))": "1",
	} {
		e, err := expr.Compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := compact(e.Eval(scope)); got != want {
			t.Errorf("%s = %s, want %s", text, got, want)
		}
	}
}

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestFaultsHaveAColumn(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		reason string
	}{
		{"", 1, "must begin with a reference or a call"},
		{"text", 1, "must begin with a reference or a call"},
		{"5 > 3", 1, "must begin with a reference or a call"},
		{"true", 1, "must begin with a reference or a call"},
		{"vars.x", 1, "must begin with a reference or a call"},
		{"'$vars.x'", 1, "must begin with a reference or a call"},
		{"!$vars.x", 1, `"!" is not an operator`},
		{"$", 1, "must begin"},
		{"$var.x", 1, "must begin"},
		{"$Vars.x", 1, "must begin"},
		{"$vars", 1, "must begin"},
		{"$vars[0]", 1, "must begin"},
		{"$len vars.x", 1, "must begin"},
		{"$vars.", 7, "a name is missing"},
		{"$vars.a..b", 9, "a name is missing"},
		{"$vars.a.", 9, "a name is missing"},
		{"$vars.a+1", 8, `'+' can't be in a name`},
		{"$vars.é+1", 9, `'+' can't be in a name`},
		{"$vars.a\xffb", 8, "can't be in a name"},
		{"$vars.a b", 9, `unexpected "b"`},
		{"$vars.a[b]", 9, "expected an index"},
		{"$vars.a['b']", 9, "expected an index"},
		{"$vars.a[-1]", 9, "expected an index"},
		{"$vars.a[1", 10, `expected "]", found the end`},
		{"$vars.a[1]b", 11, `unexpected "b"`},
		{"$vars.a [1]", 9, `unexpected "["`},
		{"$len(vars.a", 12, `expected ")", found the end`},
		{"$len()", 6, `expected a value, found ")"`},
		{"$len(vars.a) + 1", 14, `unexpected "+"`},
		{"$len(vars.a)[0]", 13, `unexpected "["`},
		{"$len(vars.)", 11, "a name is missing"},
		{"$map(vars.a)", 12, `expected ",", found ")"`},
		{"$map(vars.a, name)", 14, "expected the member's name in quotes"},
		{"$map(vars.a, 'name)", 14, "the quoted text is not closed"},
		{"$vars.a == ", 12, "expected a value, found the end"},
		{"$vars.a = 1", 9, `"=" is not an operator`},
		{"$vars.a == 1 && $vars.b == 2", 14, `"&" is not an operator`},
		{"$vars.a || $vars.b", 9, `"|" is not an operator`},
		{"$vars.a == New York", 16, `unexpected "York"`},
		{"$vars.a == 1 == 2", 14, `unexpected "=="`},
		{"$vars.a == $b", 12, `"$b" is not a reference or a call`},
		{"$vars.a == !true", 12, `"!" is not an operator`},
		{"$len($foo(1))", 6, `"$foo" is not a reference or a call`},
		{"$vars." + strings.Repeat("a", 4096), 4097, "longer than"},
		{strings.Repeat("$len(", 33), 5*32 + 1, "nested more than 32 deep"},
	} {
		_, err := expr.CompileCondition(c.text)
		var fault *expr.Error
		if !errors.As(err, &fault) {
			t.Errorf("%.40q: compiled", c.text)
			continue
		}
		if fault.Column != c.column || !strings.Contains(fault.Reason, c.reason) {
			t.Errorf("%.40q: column %d, %q; want column %d, %q", c.text, fault.Column, fault.Reason, c.column, c.reason)
		}
		if _, err := expr.Compile(c.text); err == nil {
			t.Errorf("%.40q: compiled as an expression", c.text)
		}
	}
}

func TestAnExpressionIsNoComparison(t *testing.T) {
	_, err := expr.Compile("$vars.a == 1")
	var fault *expr.Error
	if !errors.As(err, &fault) || fault.Column != 9 {
		t.Fatalf("got %v", err)
	}
}

func TestWhatATextMentions(t *testing.T) {
	c, err := expr.CompileCondition("$len($map(vars.a.b, 'x')) == $input.c.d")
	if err != nil {
		t.Fatal(err)
	}
	want := []expr.Ref{{Root: "vars", Name: "a", Column: 11}, {Root: "input", Name: "c", Column: 30}}
	if got := c.Refs(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	if c, err = expr.CompileCondition("$vars.state == open"); err != nil ||
		!reflect.DeepEqual(c.Barewords(), []string{"open"}) {
		t.Errorf("got %v, %v", c.Barewords(), err)
	}
	if c, err = expr.CompileCondition("$vars.state == 'open'"); err != nil || c.Barewords() != nil {
		t.Errorf("got %v, %v", c.Barewords(), err)
	}
}
