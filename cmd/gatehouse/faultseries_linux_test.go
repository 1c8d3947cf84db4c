package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func init() { faultsShown["disk_full"] = showDiskFull }

func showDiskFull(t *testing.T) {
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo")
	folder := p.smallDisk()
	p.open()
	p.readyAgain()
	r := watch(t, p.at, "GatehouseDatabaseFaults")
	filler := filepath.Join(fmt.Sprintf("/proc/%d/root", p.app.cmd.Process.Pid), folder, "filler")
	if err := os.WriteFile(filler, make([]byte, 32<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	p.ann.Says(strings.Repeat("Is there any room left? ", 1_000))
	r.shows(func(now map[string]float64) bool {
		return now[`gatehouse_store_errors_total{category="store_full"}`] > 0
	})
	r.fires()
}

// smallDisk gives the process a small disk of its own for the database, in the folder that is returned. Where that
// can't be, the test is skipped.
func (p *slackProcess) smallDisk() (folder string) {
	t := p.workbench.t
	t.Helper()
	folder = filepath.Dir(strings.TrimPrefix(p.url, "sqlite:"))
	p.env, p.attr = append(p.env, smallDiskKey+"="+folder), mountNamespace()
	probe := exec.Command(os.Args[0])
	probe.Env, probe.SysProcAttr = append(os.Environ(), p.env...), p.attr
	if said, err := probe.CombinedOutput(); err != nil {
		t.Skipf("no process can have a disk of its own here: %v\n%s", err, said)
	}
	return folder
}
