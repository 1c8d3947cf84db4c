package core_test

import (
	"go/ast"
	"go/types"
	"path"
	"regexp"
	"strings"
	"testing"

	goload "golang.org/x/tools/go/packages"
)

// functionFields are the struct fields of product code that hold functions, as PACKAGE.STRUCT.FIELD (a star matches any
// name), each with the reason why it is not a method of an interface. There are at most 40 rows: a function that one
// room needs of another is an interface of its own, so that a reader can follow a call.
var functionFields = map[string]string{
	"*.[Nn]ow":                                    "the clock",
	"*.Jitter":                                    "randomness",
	"*.NewID":                                     "ids",
	"*.[Ss]leep":                                  "tests do not wait",
	"*.[Ww]ait":                                   "tests do not wait",
	"*.[Gg]etenv":                                 "the environment, as os.LookupEnv gives it",
	"*.accept":                                    "core.Accept, with which a platform is run",
	"core/tool.Tool.*":                            "a tool is data with what it does and says",
	"core/graph.Type.*":                           "what a type of state fields makes of a value",
	"core/graph.Reducer.merge":                    "how two writes of a field become one",
	"core/graph.edge.route":                       "a graph is made of functions",
	"core/graph.node.middleware":                  "a graph is made of functions",
	"core/graph.Builder.wrapNode":                 "a graph is made of functions",
	"core/graph.migration.fn":                     "a graph is made of functions",
	"core/graph.Observer.*":                       "an observer is a function, as the specification has it",
	"core/graph.openAttempt.end":                  "the end of a span, which its beginning returns",
	"core/graph.suspension.reports":               "the events of a suspension, which are told once it is certain",
	"core/llm.*.Observe":                          "an observer of attempts, which returns what ends it",
	"core/llm.*.Hear":                             "a stream of tokens",
	"core/llm.Request.OnToken":                    "a stream of tokens",
	"core/llm.Told.Tell":                          "graph.Emit: llm imports no graph",
	"core/llm.ChainConfig.Failed":                 "a line of the log",
	"core/llm.Streamed.refused":                   "a line of the log",
	"core/agent.ProviderModel.LeftOut":            "a line of the log",
	"core/agent.catalog.later":                    "a question to the one who has the tools: Check's argument",
	"core/chat.Options.Wrap":                      "a middleware of the whole graph",
	"core/chat.listener.on":                       "an observer is a function, as the specification has it",
	"core/mask.secretForm.*":                      "a row of a table",
	"core.History.source":                         "messages that are read when they are needed",
	"storage/internal/sqlstore.Options.Trace":     "tests count statements",
	"storage/internal/sqlstore.outboxWrite.apply": "a change that waits for the end of its transaction",
	"storage/postgres.statement.row":              "reads a row of a statement that is sent later",
	"storage/sqlite.unit.work":                    "the caller's transaction",
	"storage/sqlite.Copying.*":                    "a progress, and what the caller checks in a copy",
	"adapters/agents.mcpTool.call":                "a row of a table",
	"adapters/console.*.*":                        "what a terminal tells: its size has changed, nothing happens",
	"cmd/gatehouse/internal/admin.table.row":      "a row of a table",
	"cmd/gatehouse/internal/cli.App.OpenStore":    "tests open a store that fails",
	"cmd/gatehouse/internal/settings.Source.*":    "makes the settings of each platform and vendor anew",
}

// noProduct are folders of tests, fakes and tools.
var noProduct = regexp.MustCompile(`test(/|$)|^adapters/internal/fakeserver|^cmd/(bench|conformance)`)

func TestFunctionFieldsHaveAReason(t *testing.T) {
	if len(functionFields) > 40 {
		t.Errorf("%d rows", len(functionFields))
	}
	all, err := goload.Load(&goload.Config{
		Dir: "..", Mode: goload.NeedName | goload.NeedFiles | goload.NeedSyntax | goload.NeedTypes |
			goload.NeedTypesInfo | goload.NeedImports | goload.NeedExportFile,
	}, "gatehouse/...")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, p := range all {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors)
		}
		if noProduct.MatchString(strings.TrimPrefix(p.PkgPath, "gatehouse/")) {
			continue
		}
		for _, name := range functionFieldsOf(p) {
			row := reasonOf(name)
			if used[row] = true; row == "" {
				t.Errorf("%s holds a function: make it a method of an interface, or give its reason here", name)
			}
		}
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				for field, value := range assigned(p.TypesInfo, n) {
					if method := foreignMethod(p.TypesInfo, field, value); method != "" {
						t.Errorf("%s: the field %s is assigned the method %s of another package: "+
							"its type should be an interface", p.Fset.Position(n.Pos()), field.Name(), method)
					}
				}
				return true
			})
		}
	}
	for row := range functionFields {
		if !used[row] {
			t.Errorf("no field is %s", row)
		}
	}
}

// functionFieldsOf lists the fields of all structs that a package declares, named or not.
func functionFieldsOf(p *goload.Package) (all []string) {
	for _, f := range p.Syntax {
		in := ""
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				in = n.Name.Name
			case *ast.TypeSpec:
				in = n.Name.Name
			case *ast.StructType:
				for _, field := range n.Fields.List {
					for _, name := range field.Names {
						if holdsFunction(p.TypesInfo.Defs[name].Type()) {
							all = append(all, strings.TrimPrefix(p.PkgPath, "gatehouse/")+"."+in+"."+name.Name)
						}
					}
				}
			}
			return true
		})
	}
	return all
}

// holdsFunction reports whether a value of the type is a function, or a list or map of functions. The end of a context
// is none.
func holdsFunction(t types.Type) bool {
	cancels := strings.HasPrefix(t.String(), "context.Cancel")
	switch t := t.Underlying().(type) {
	case *types.Signature:
		return !cancels
	case *types.Slice:
		return holdsFunction(t.Elem())
	case *types.Map:
		return holdsFunction(t.Elem())
	}
	return false
}

// reasonOf is the row of functionFields that a field's name matches; "" if there is none.
func reasonOf(name string) string {
	for row := range functionFields {
		if ok, _ := path.Match(strings.ReplaceAll(row, "/", "."), strings.ReplaceAll(name, "/", ".")); ok {
			return row
		}
	}
	return ""
}

// assigned gives the fields to which a node assigns, each with its value.
func assigned(info *types.Info, n ast.Node) map[*types.Var]ast.Expr {
	all := map[*types.Var]ast.Expr{}
	field := func(x ast.Expr, value ast.Expr) {
		if s, ok := x.(*ast.SelectorExpr); ok {
			x = s.Sel
		}
		if id, ok := x.(*ast.Ident); ok {
			if v, ok := info.Uses[id].(*types.Var); ok && v.IsField() && ours(v.Pkg()) {
				all[v] = value
			}
		}
	}
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		field(n.Key, n.Value)
	case *ast.AssignStmt:
		if len(n.Lhs) == len(n.Rhs) {
			for i, x := range n.Lhs {
				field(x, n.Rhs[i])
			}
		}
	}
	return all
}

// foreignMethod names the method that is assigned to a field if its type is of another package of ours than the field.
func foreignMethod(info *types.Info, field *types.Var, value ast.Expr) string {
	s, ok := value.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	selection := info.Selections[s]
	if selection == nil || selection.Kind() != types.MethodVal {
		return ""
	}
	method := selection.Obj()
	if of := method.Pkg(); of == field.Pkg() || !ours(of) {
		return ""
	}
	return path.Base(method.Pkg().Path()) + "." + method.Name()
}

func ours(p *types.Package) bool { return p != nil && strings.HasPrefix(p.Path(), "gatehouse/") }
