package postgrestest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Pair is a primary and its synchronous standby, each a server of its own: what a commit has stored is on both.
type Pair struct {
	Primary, Standby string // HOST:PORT

	t       testing.TB
	bin     string
	dir     string
	user    *syscall.SysProcAttr // that the servers run as
	servers map[string]*exec.Cmd // by HOST:PORT
}

// NewPair starts a pair, which ends with the test. It skips the test where the programs of a server are not installed.
func NewPair(t testing.TB) *Pair {
	t.Helper()
	p := &Pair{t: t, bin: programs(t), servers: map[string]*exec.Cmd{}}
	var err error
	if p.dir, err = os.MkdirTemp("/tmp", "gatehouse-pair"); err != nil { // its user may not read what is in TMPDIR
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	p.asServer()
	p.Primary, p.Standby = freePort(t), freePort(t)
	p.run("initdb", "-D", p.data(p.Primary), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync",
		"--wal-segsize=1")
	p.start(p.Primary)
	p.run("pg_basebackup", "-R", "-D", p.data(p.Standby), "-d", p.URL(p.Primary), "--no-sync", "--checkpoint=fast")
	p.start(p.Standby)
	p.must(Run(p.URL(p.Primary), `alter system set synchronous_standby_names = '*'`, `select pg_reload_conf()`))
	p.wait("the standby to be synchronous", func() error {
		return Run(p.URL(p.Primary), `select 1 / count(*) from pg_stat_replication where sync_state = 'sync'`)
	})
	return p
}

// URL is that of hosts of the pair, in this order.
func (p *Pair) URL(hosts ...string) string {
	all := hosts[0]
	for _, h := range hosts[1:] {
		all += "," + h
	}
	return "postgres://postgres@" + all + "/postgres?sslmode=disable"
}

// KillPrimary ends the primary at once, as if its machine had failed.
func (p *Pair) KillPrimary() {
	c := p.servers[p.Primary]
	_ = c.Process.Signal(syscall.SIGQUIT)
	_ = c.Wait()
	delete(p.servers, p.Primary)
}

// Replayed waits until the standby shows what was committed.
func (p *Pair) Replayed() {
	p.t.Helper()
	p.wait("the standby to show everything", func() error {
		return Run(p.URL(p.Primary),
			`select 1 / count(*) from pg_stat_replication where replay_lsn >= pg_current_wal_lsn()`)
	})
}

// Promote makes the standby a primary, and waits until it is one.
func (p *Pair) Promote() {
	p.t.Helper()
	p.must(Run(p.URL(p.Standby), `select pg_promote(wait => false)`))
	p.wait("the standby to take writes", func() error {
		return Run(p.URL(p.Standby), `begin read write`, `rollback`)
	})
}

// programs is the folder with the newest server's programs.
func programs(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian's; what is in the PATH wraps them
	if len(found) == 0 {
		t.Skip("this test needs the programs of a Postgres server (initdb, pg_basebackup): .ci/postgres installs them")
	}
	version := func(file string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(file))))
		return n
	}
	return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }))
}

// asServer makes the folder that of a user who may run a server, which root may not.
func (p *Pair) asServer() {
	p.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	p.must(os.Chown(p.dir, nobody, nobody))
	p.user = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

func (p *Pair) data(host string) string {
	_, port, _ := net.SplitHostPort(host)
	return filepath.Join(p.dir, port)
}

func (p *Pair) command(program string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(p.bin, program), args...)
	c.Dir, c.SysProcAttr, c.Env = p.dir, p.user, append(os.Environ(), "LC_ALL=C", "HOME="+p.dir)
	return c
}

func (p *Pair) run(program string, args ...string) {
	p.t.Helper()
	if said, err := p.command(program, args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", program, err, said)
	}
}

// start starts a server and waits until it answers.
func (p *Pair) start(host string) {
	p.t.Helper()
	_, port, _ := net.SplitHostPort(host)
	c := p.command("postgres", "-D", p.data(host), "-p", port, "-h", "127.0.0.1", "-k", "", "-F",
		"-c", "full_page_writes=off", "-c", "shared_buffers=16MB", "-c", "wal_receiver_status_interval=1s")
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	p.must(c.Start())
	p.servers[host] = c
	p.wait("a server at "+host, func() error { return Run(p.URL(host), `select 1`) })
}

// wait tries until something succeeds.
func (p *Pair) wait(what string, try func() error) {
	p.t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	p.t.Fatalf("waiting for %s: %v", what, err)
}

func (p *Pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *Pair) end() {
	for _, c := range p.servers {
		_ = c.Process.Signal(syscall.SIGQUIT)
		_ = c.Wait()
	}
	if err := os.RemoveAll(p.dir); err != nil {
		p.t.Error(err)
	}
}

// freePort is an address that nobody listens on.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(fmt.Errorf("looking for a free port: %w", err))
	}
	defer l.Close()
	return l.Addr().String()
}
