package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// The limits: few interfaces, each small. A new one is needed only where a function or a concrete type is not enough. Five make a platform a value:
// core.Driver with its Settings, and what only some platforms can do, each with one method (core.Doctor, core.Manifest, and the program's webhook);
// llm.Vendor and llm.Endpoint make a vendor of models one.
const (
	maxInterfaces = 37
	maxMethods    = 7
)

// kits are folders of fakes, suites and benches that only tests and measurements use.
var kits = []string{"cmd/bench", "adapters/adaptertest", "adapters/slack/slacktest", "adapters/discord/discordtest", "adapters/internal/fakeserver", "core/llm/llmtest", "storage/storagetest", "storage/postgres/postgrestest"}

func TestInterfacesAreFewAndSmall(t *testing.T) {
	declared := map[string]*ast.InterfaceType{} // by package folder and name
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("..", path)
		for _, kit := range kits {
			if d.IsDir() && rel == kit {
				return filepath.SkipDir
			}
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && rel != "." {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if i, ok := spec.Type.(*ast.InterfaceType); ok {
					declared[f.Name.Name+"."+spec.Name.Name] = i
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(declared) > maxInterfaces {
		t.Errorf("%d interfaces are declared, want at most %d", len(declared), maxInterfaces)
	}
	for name, i := range declared {
		if n := methodsOf(i, strings.Split(name, ".")[0], declared); n > maxMethods {
			t.Errorf("%s has %d methods, want at most %d", name, n, maxMethods)
		}
	}
	if len(declared) < 10 {
		t.Errorf("only %d interfaces were found: %v", len(declared), declared)
	}
}

// methodsOf counts the methods of an interface, including those of embedded interfaces; an embedded one of another module counts as one.
func methodsOf(i *ast.InterfaceType, pkg string, declared map[string]*ast.InterfaceType) int {
	n := 0
	for _, field := range i.Methods.List {
		if len(field.Names) > 0 {
			n += len(field.Names)
			continue
		}
		name := ""
		switch e := field.Type.(type) {
		case *ast.Ident:
			name = pkg + "." + e.Name
		case *ast.SelectorExpr:
			if x, ok := e.X.(*ast.Ident); ok {
				name = x.Name + "." + e.Sel.Name
			}
		}
		if inner := declared[name]; inner != nil {
			n += methodsOf(inner, strings.Split(name, ".")[0], declared)
			continue
		}
		n++
	}
	return n
}
