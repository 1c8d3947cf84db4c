package expr_test

import (
	"reflect"
	"testing"

	"gatehouse/core/hrf/expr"
)

func TestArgumentsAreEvaluatedAtAnyDepth(t *testing.T) {
	args, errs := expr.CompileArgs(parse(`{"s": "plain", "n": 2.0, "b": true, "nil": null, "v": "$vars.n", "deep": {"list": [1, "$input.text", {"x": "$map(vars.list, 'name')"}]},
		"$vars.n": "a key", "price": "$5.00", "dollar": "$", "escaped": "$$vars.n", "twice": "$$$", "var": "$var.x", "len": "$len", "inside": "costs $vars.n", "count": "$len(vars.list)"}`))
	if errs != nil {
		t.Fatal(errs)
	}
	want := `{"$vars.n":"a key","b":true,"count":4,"deep":{"list":[1,"hello there",{"x":["a",null]}]},"dollar":"$","escaped":"$vars.n","inside":"costs $vars.n",` +
		`"len":"$len","n":2.0,"nil":null,"price":"$5.00","s":"plain","twice":"$$","v":5,"var":"$var.x"}`
	got := args.Eval(scope)
	if compact(got) != want {
		t.Errorf("got  %s\nwant %s", compact(got), want)
	}
	got["deep"].(map[string]any)["list"].([]any)[0] = "changed"
	if again := compact(args.Eval(scope)); again != want {
		t.Errorf("after a change of the first result: %s", again)
	}
}

func TestFaultsOfArgumentsNameTheValue(t *testing.T) {
	text := parse(`{"ok": "$vars.a", "a/b": ["$vars.name is here", {"x": "$len("}]}`)
	_, errs := expr.CompileArgs(text)
	if len(errs) != 2 {
		t.Fatalf("got %v", errs)
	}
	for i, want := range []struct {
		pointer string
		column  int
	}{{"/a~1b/0", 12}, {"/a~1b/1/x", 6}} {
		if errs[i].Pointer != want.pointer || errs[i].Err.Column != want.column || errs[i].Value != text.At(want.pointer) {
			t.Errorf("got %+v, %+v", errs[i], errs[i].Err)
		}
	}
	if want := "put quotes around a text of several words; there is no arithmetic; for a text that begins with a dollar, write $$"; errs[0].Err.Hint != want {
		t.Errorf("hint %q", errs[0].Err.Hint)
	}
}

func TestReferencesOfArguments(t *testing.T) {
	args, errs := expr.CompileArgs(parse(`{"a": "$vars.x.y", "b": [{"c": "$len(input.z)"}], "d": "$$vars.no"}`))
	if errs != nil {
		t.Fatal(errs)
	}
	if want := []expr.Ref{{Root: "vars", Name: "x", Column: 1}, {Root: "input", Name: "z", Column: 6}}; !reflect.DeepEqual(args.Refs(), want) {
		t.Errorf("got %v", args.Refs())
	}
}
