package expr_test

import (
	"testing"

	"gatehouse/core/hrf/expr"
)

func TestConditionsHoldOrDoNot(t *testing.T) {
	for text, want := range map[string]bool{
		// The truth of one value.
		"$vars.n": true, "$vars.s": true, "$vars.yes": true, "$vars.no": false, "$vars.nil": false,
		"$vars.missing": false, "$vars.blank": false,
		"$vars.empty": true, "$vars.eo": true, "$len(vars.empty)": true,
		// Numbers, also in texts.
		"$vars.n == 5": true, "$vars.n==5": true, "$vars.n == 5.0": true, "$vars.n == '5'": true,
		"$vars.num == 5": true, "$vars.n != 5": false,
		"$vars.n < 10": true, "$vars.num < 10": true, "$input.Count > 9": true, "$vars.n >= 5": true,
		"$vars.n <= 4": false, "$vars.neg < -2": true,
		"$vars.n == 0.5e1": true, "$vars.n == +05.": true, "$vars.n < 1e999999999": true,
		"$vars.n < 1e99999999999": true, "$vars.n > -1e99999999999999999999": true,
		"$vars.n > 1e-99999999999999999999": true, "$vars.n > 0e99999999999999999999": true,
		"$vars.far > 1e99999999999": true, "$vars.far == '1e99999999999999999999'": true,
		"$vars.big == 9007199254740992": false, "$vars.big > 9007199254740992": true, "$vars.n == Infinity": false,
		"$vars.n == 0x5": false,
		// Texts.
		"$vars.s == abc": true, "$vars.s == 'abc'": true, `$vars.s == "abc"`: true, "$vars.s == 'ABC'": false,
		"$vars.s < abd": true, "$vars.s == '== abc'": false,
		"$input.text == 'hello there'": true, "$input.text == 'a == b'": false, "$vars.s != ''": true,
		"$vars.blank == ' '": true,
		// Words with a meaning.
		"$vars.yes == true": true, "$vars.yes == false": false, "$vars.no == false": true, "$vars.nil == null": true,
		"$vars.missing == null": true, "$vars.s == null": false,
		"$vars.s != null": true, "$vars.nil == 'null'": false, "$vars.yes == 1": false, "$vars.yes == 'true'": true,
		// Null has no order.
		"$vars.missing < 5": false, "$vars.missing > 5": false, "$vars.missing <= null": false, "$vars.n > null": false,
		"$vars.missing != 5": true, "$vars.missing == 5": false,
		// Lists.
		"$len(vars.list) == 4": true, "$vars.list.length > 3": true, "$len($vars.missing) == 0": true,
		"$vars.list[0].name == a": true, "$vars.empty == '[]'": true,
		"$vars.n == $vars.num": true, "$vars.s == $input.text": false,
	} {
		c, err := expr.CompileCondition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Eval(scope); got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
}
