package expr_test

import (
	"reflect"
	"testing"

	"gatehouse/core/hrf/expr"
	"gatehouse/core/strictjson"
)

func TestArgumentsAreEvaluatedAtAnyDepth(t *testing.T) {
	args, errs := expr.CompileArgs(
		parse(
			`{"s": "plain", "n": 2.0, "b": true, "nil": null, "v": "$vars.n", "deep": {"list": [1, "$input.text", ` +
				`{"x": "$map(vars.list, 'name')"}]},
		"$vars.n": "a key", "price": "$5.00", "dollar": "$", "escaped": "$$vars.n", "twice": "$$$", "var": ` +
				`"$var.x", "len": "$len", "inside": "costs $vars.n", "count": "$len(vars.list)"}`))
	if errs != nil {
		t.Fatal(errs)
	}
	want := `{"$vars.n":"a key","b":true,"count":4,"deep":{"list":[1,"hello there",{"x":["a",null]}]},` +
		`"dollar":"$","escaped":"$vars.n","inside":"costs $vars.n",` +
		`"len":"$len","n":2.0,"nil":null,"price":"$5.00","s":"plain","twice":"$$","v":5,"var":"$var.x"}`
	got, _ := args.Eval(scope, 1000)
	if compact(got) != want {
		t.Errorf("got  %s\nwant %s", compact(got), want)
	}
	got["deep"].(map[string]any)["list"].([]any)[0] = "changed"
	if again, _ := args.Eval(scope, 1000); compact(again) != want {
		t.Errorf("after a change of the first result: %s", compact(again))
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
		if strictjson.Pointer(errs[i].Path...) != want.pointer || errs[i].Err.Column != want.column ||
			errs[i].Value != text.At(want.pointer) {
			t.Errorf("got %+v, %+v", errs[i], errs[i].Err)
		}
	}
	if want := "put quotes around text of several words; there is no arithmetic; for text that begins with a dollar, " +
		"write $$"; errs[0].Err.Hint != want {
		t.Errorf("hint %q", errs[0].Err.Hint)
	}
}

func TestReferencesOfArguments(t *testing.T) {
	args, errs := expr.CompileArgs(parse(`{"a": "$vars.x.y", "b": [{"c": "$len(input.z)"}], "d": "$$vars.no"}`))
	if errs != nil {
		t.Fatal(errs)
	}
	if want := []expr.Ref{
		{Root: "vars", Name: "x", Column: 1}, {Root: "input", Name: "z", Column: 6},
	}; !reflect.DeepEqual(args.Refs(), want) {
		t.Errorf("got %v", args.Refs())
	}
}

func TestArgumentsHaveALimit(t *testing.T) {
	args, errs := expr.CompileArgs(parse(`{"a": ["$map(vars.list, 'name')", {"b": "$input.text"}, "$vars.n"]}`))
	if errs != nil {
		t.Fatal(errs)
	}
	got, ok := args.Eval(scope, 1000)
	size := expr.Size(got)
	if !ok || size < len(compact(got)) {
		t.Fatalf("%d, %v, %t", size, got, ok)
	}
	if _, ok := args.Eval(scope, size); !ok {
		t.Errorf("they do not fit into their size, %d", size)
	}
	if got, ok := args.Eval(scope, size-1); ok || got != nil {
		t.Errorf("%v, %t", got, ok)
	}
}
