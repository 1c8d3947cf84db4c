package tool

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"gatehouse/core"
)

// maxExpression bounds the work of one calculation, in bytes; maxBits bounds an integer result that is written in full.
const (
	maxExpression = 1000
	maxBits       = 1 << 15
)

// Calc evaluates arithmetic expressions exactly: numbers, + - * / % and brackets; 0.1+0.2 is 0.3. Arguments:
// {"expression": "2+3*4"}.
func Calc() Tool {
	return Tool{
		Name:        "demo.calc",
		Description: "Evaluates an arithmetic expression exactly: numbers, + - * / %, brackets.",
		Schema: json.RawMessage(
			`{"type":"object","properties":{"expression":{"type":"string","minLength":1}},"required":["expression"]}`),
		Do: func(_ context.Context, _ string, args json.RawMessage) (string, error) {
			text := argument(args, "expression")
			if len(text) > maxExpression {
				return "",
					core.Errorf(core.ToolArguments, "The expression is longer than %d characters.", maxExpression)
			}
			tree, err := parser.ParseExpr(strings.ReplaceAll(strings.ReplaceAll(text, "×", "*"), "÷", "/"))
			if err != nil {
				return "",
					core.Wrap(core.ToolArguments, err, "%q is not an arithmetic expression. Write it like 2+3*4.", text)
			}
			v, err := evaluate(tree)
			if err != nil {
				return "", err
			}
			return number(v), nil
		},
	}
}

// hugeExponent detects literals such as 1e1000000, whose digits would take too much memory.
func hugeExponent(literal string) bool {
	literal = strings.ToLower(literal)
	i := strings.IndexAny(literal, "ep")
	return i >= 0 && !strings.HasPrefix(literal, "0x") && len(strings.TrimLeft(literal[i+1:], "+-0")) > 3 ||
		strings.Contains(literal, "p")
}

var operators = map[token.Token]bool{
	token.ADD: true, token.SUB: true, token.MUL: true, token.QUO: true, token.REM: true,
}

func evaluate(e ast.Expr) (constant.Value, error) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return evaluate(e.X)
	case *ast.BasicLit:
		if (e.Kind == token.INT || e.Kind == token.FLOAT) && !hugeExponent(e.Value) {
			if v := constant.MakeFromLiteral(e.Value, e.Kind, 0); v.Kind() != constant.Unknown {
				return v, nil
			}
		}
	case *ast.UnaryExpr:
		x, err := evaluate(e.X)
		if err != nil {
			return nil, err
		}
		if e.Op == token.ADD || e.Op == token.SUB {
			return constant.UnaryOp(e.Op, x, 0), nil
		}
	case *ast.BinaryExpr:
		return binary(e)
	}
	return nil, core.Errorf(core.ToolArguments, "Only numbers, + - * / %% and brackets are supported.")
}

func binary(e *ast.BinaryExpr) (constant.Value, error) {
	x, err := evaluate(e.X)
	if err != nil {
		return nil, err
	}
	y, err := evaluate(e.Y)
	if err != nil {
		return nil, err
	}
	if !operators[e.Op] {
		return nil, core.Errorf(core.ToolArguments, "Only numbers, + - * / %% and brackets are supported.")
	}
	if (e.Op == token.QUO || e.Op == token.REM) && constant.Sign(y) == 0 {
		return nil, core.Errorf(core.ToolArguments, "Division by zero.")
	}
	if e.Op == token.REM && (constant.ToInt(x).Kind() != constant.Int || constant.ToInt(y).Kind() != constant.Int) {
		return nil, core.Errorf(core.ToolArguments, "%% needs whole numbers.")
	}
	if e.Op == token.REM {
		x, y = constant.ToInt(x), constant.ToInt(y)
	}
	return constant.BinaryOp(x, e.Op, y), nil
}

// number writes integers in full and other numbers with up to 12 digits after the point.
func number(v constant.Value) string {
	if whole := constant.ToInt(v); whole.Kind() == constant.Int && constant.BitLen(whole) <= maxBits {
		return whole.ExactString()
	}
	f, exact := constant.Float64Val(v)
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', 12, 64), "0"), ".")
	if !exact && strings.Trim(text, "-0.") == "" {
		return v.String()
	}
	return text
}
