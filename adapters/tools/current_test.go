package tools_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"gatehouse/adapters/tools"
	"gatehouse/core/strictyaml"
	"gatehouse/core/tool"
)

// TestTheFileIsReadAgain: a registry has the tools of now. A file with faults changes nothing.
func TestTheFileIsReadAgain(t *testing.T) {
	file := folder(t, shop)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	current, err := tools.Open(file, options(t))
	if err != nil || current.Path() != file {
		t.Fatal(err)
	}
	again := func() error {
		read, err := tools.Open(file, options(t))
		if err == nil {
			current.Use(read)
		}
		return err
	}
	registry := tool.NewRegistry(tool.Calc()).With(current)
	has := func() (names string) {
		for _, one := range registry.Tools() {
			names += one.Name + " "
		}
		return names
	}
	if got := has(); got != "demo.calc shop.refund shop.orders shop.close " {
		t.Errorf("%s", got)
	}
	closing, _ := registry.Get("shop.close")

	write(strings.Replace(shop, "risk: destructive", "risk: big", 1))
	var faults strictyaml.Faults
	if err := again(); !errors.As(err, &faults) || len(faults) != 1 {
		t.Errorf("%v", err)
	}
	if got := has(); got != "demo.calc shop.refund shop.orders shop.close " {
		t.Errorf("after a fault: %s", got)
	}

	write("# another form\n" +
		strings.Replace(shop[:strings.Index(shop, "  - name: shop.orders")], "--fast", "--slow", 1) +
		"  - name: shop.close # the same tool\n    command: [sh, -c, exit]\n    risk: write\n    description: Closes " +
		"the shop.\n")
	refund, _ := registry.Get("shop.refund")
	if err := again(); err != nil {
		t.Fatal(err)
	}
	if got := has(); got != "demo.calc shop.refund shop.close " {
		t.Errorf("read again: %s", got)
	}
	if now, _ := registry.Get("shop.refund"); now.Version == refund.Version {
		t.Error("a tool with another command has the same version")
	}
	if now, _ := registry.Get("shop.close"); now.Version != closing.Version {
		t.Error("a tool that is written in another form has another version")
	}
}

func TestWithoutAFileThereAreNoTools(t *testing.T) {
	current, err := tools.Open("", options(t))
	if err != nil || current.Path() != "" || len(current.Tools()) > 0 {
		t.Errorf("%v, %v", current.Tools(), err)
	}
}
