package expr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gatehouse/core/hrf/expr"
	"gatehouse/core/strictjson"

	"pgregory.net/rapid"
)

// piece draws parts of expressions, so that many texts compile.
var piece = rapid.SampledFrom(
	[]string{
		"$vars.", "$input.", "vars.", "$len(", "$map(", ")", ", 'name')", "list", "o", "n", "s", ".", "[0]", ".length",
		" == ", " < ", " != ", "5", "'abc'", "null",
		"true", "open", "{{", "}}", "{", "}", " ", "é", "\xff", "$", "$$",
	})

func drawText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
}

func TestPropertyCompilingIsDeterministicAndEvaluationChangesNothing(t *testing.T) {
	before := compact(scope)
	rapid.Check(t, func(t *rapid.T) {
		check(t, drawText(t))
		if after := compact(scope); after != before {
			t.Fatalf("the scope is now %s", after)
		}
	})
}

// check compiles a text in every way twice and evaluates what compiles.
func check(t interface{ Fatalf(string, ...any) }, text string) {
	first, err := expr.Compile(text)
	second, again := expr.Compile(text)
	if !reflect.DeepEqual(first, second) || !reflect.DeepEqual(err, again) {
		t.Fatalf("%q compiles to %v and %v", text, first, second)
	}
	checkFault(t, text, err)
	condition, err := expr.CompileCondition(text)
	checkFault(t, text, err)
	if condition != nil {
		if one, two := condition.Eval(scope), condition.Eval(scope); one != two {
			t.Fatalf("%q is %v and %v", text, one, two)
		}
	}
	if first != nil {
		if condition == nil {
			t.Fatalf("%q is an expression and no condition", text)
		}
		if one, two := first.Eval(scope), first.Eval(scope); compact(one) != compact(two) {
			t.Fatalf("%q is %v and %v", text, one, two)
		}
	}
	template := expr.CompileTemplate(text)
	if len(template.Refs()) == 0 {
		if got, _ := template.Render(scope, len(text)); got != text {
			t.Fatalf("%q has no placeholder and renders %q", text, got)
		}
	}
	args, faults := expr.CompileArgs(
		&strictjson.Value{
			Kind:    strictjson.Object,
			Members: []strictjson.Member{{Key: "a", Value: &strictjson.Value{Kind: strictjson.String, String: text}}},
		})
	if faults == nil {
		args.Eval(scope, 1000)
	}
}

func checkFault(t interface{ Fatalf(string, ...any) }, text string, err error) {
	var fault *expr.Error
	if err != nil && (!errors.As(err, &fault) || fault.Column < 1 || fault.Column > len(text)+1) {
		t.Fatalf("%q: %#v", text, err)
	}
}

func TestPropertyInsertedTextIsNeverRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, value, after := rapid.StringMatching(`[a-z ]*`).Draw(t, "before"), drawText(t),
			rapid.StringMatching(`[a-z }]*`).Draw(t, "after")
		s := expr.Scope{Vars: map[string]any{"v": value, "list": "inserted"}}
		got, ok := expr.CompileTemplate(before+"{{vars.v}}"+after).Render(s, 1000)
		if want := before + value + after; !ok || got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestPropertyNumbersCompareAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Range(-2000, 2000).Draw(t, "a"), rapid.Int64Range(-2000, 2000).Draw(t, "b")
		ending := rapid.SampledFrom([]string{"", "e0", ".0", ".000"})
		s := expr.Scope{Vars: map[string]any{
			"a": fmt.Sprint(a) + ending.Draw(t, "ending of a"),
			"b": json.Number(fmt.Sprint(b) + ending.Draw(t, "ending of b")),
		}}
		for operator, want := range map[string]bool{
			"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b,
		} {
			c, err := expr.CompileCondition("$vars.a " + operator + " $vars.b")
			if err != nil {
				t.Fatal(err)
			}
			if c.Eval(s) != want {
				t.Fatalf("%v %s %v is %v", s.Vars["a"], operator, s.Vars["b"], !want)
			}
		}
	})
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"$vars.a", "$input.text == 'x'", "$len($map(vars.list[0].x, \"name\")) >= 1.5e3",
		"{{ vars.o }} {{x}} {{{input.text}}}", "$$vars", "$vars.a == New York",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}
