package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gatehouse/core/llm/llmtest"
	"gatehouse/storage/postgres/postgrestest"
)

const (
	// imageKey names the root of the container image, as deploy/build.sh makes it; see .ci/image.
	imageKey = "GATEHOUSE_TEST_IMAGE"
	// emulatorKey names a static program that runs the program of an image for another architecture; "": none does.
	emulatorKey = "GATEHOUSE_TEST_EMULATOR"
	// containerUser is the user and the group of the container.
	containerUser = 65532
)

// The settings of each kind of file: lines such as NAME: VALUE, and what is left out of the value.
var settingLine = regexp.MustCompile(`(?m)^(?:ENV |Environment=|\s+-? ?)(GATEHOUSE_\w+)(?:=|: )(.*?)(?: #.*)?$`)

// settingsIn are the settings of a file for Docker, Kubernetes or systemd.
func settingsIn(file string) map[string]string {
	all := map[string]string{}
	for _, m := range settingLine.FindAllStringSubmatch(readFile(file), -1) {
		all[m[1]] = strings.Trim(m[2], `"`)
	}
	return all
}

// container is the root of the image in a folder of its own, and the environment of its processes.
type container struct {
	t       *testing.T
	root    string
	env     []string
	program []string // what is run, as it is named in the root
}

// newContainer copies the image, and takes the settings of its Dockerfile and those of a file, which may replace them.
func newContainer(t *testing.T, file string) *container {
	t.Helper()
	image := os.Getenv(imageKey)
	if image == "" {
		t.Skipf("%s is not set", imageKey)
	}
	c := &container{t: t, root: t.TempDir(), program: []string{"/gatehouse"}}
	noErr(t, os.CopyFS(c.root, os.DirFS(image)))
	if emulator := os.Getenv(emulatorKey); emulator != "" {
		text, err := os.ReadFile(emulator)
		noErr(t, err)
		noErr(t, os.WriteFile(filepath.Join(c.root, "emulator"), text, 0o755))
		c.program = []string{"/emulator", "/gatehouse"}
	}
	env := settingsIn("../../Dockerfile")
	if file != "" {
		for key, value := range settingsIn(file) {
			env[key] = value
		}
	}
	for key, value := range env {
		c.env = append(c.env, key+"="+value)
	}
	return c
}

// write adds a file that every user may read.
func (c *container) write(path, text string) {
	c.t.Helper()
	path = filepath.Join(c.root, path)
	noErr(c.t, os.MkdirAll(filepath.Dir(path), 0o755))
	noErr(c.t, os.WriteFile(path, []byte(text), 0o444))
}

// start runs the program of the image in its root, as the user of the container and with no environment but its own.
func (c *container) start(args ...string) *child {
	c.t.Helper()
	args = slices.Concat(c.program[1:], args)
	p := &child{cmd: exec.Command(c.program[0], args...), out: &transcript{}, done: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = c.env, "/", p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot:     c.root,
		Credential: &syscall.Credential{Uid: containerUser, Gid: containerUser},
	}
	in, err := p.cmd.StdinPipe()
	noErr(c.t, err)
	p.in = in
	noErr(c.t, p.cmd.Start())
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	c.t.Cleanup(p.kill)
	return p
}

// prints is what a command prints that must end well.
func (c *container) prints(args ...string) string {
	c.t.Helper()
	p := c.start(args...)
	p.ok(c.t)
	return p.out.String()
}

// files are those below the root, but for the database's.
func (c *container) files() (all []string) {
	c.t.Helper()
	noErr(c.t, filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		if path == filepath.Join(c.root, "data") {
			return fs.SkipDir
		}
		all = append(all, path)
		return err
	}))
	return all
}

// TestTheImage runs what is in the image as a container does it, in the forms in which deploy has it: a root with
// nothing in it but the program and the certificates, a user without a name, and no folder to write to but that of the
// database. A model is asked over TLS, by a certificate that only the file of the image names, and a rule of the policy
// has hours of a time zone.
func TestTheImage(t *testing.T) {
	for file, url := range map[string]func(t *testing.T) string{
		"": nil,
		"deploy/kubernetes/sqlite/kustomization.yaml": nil,
		"deploy/compose.yaml":                         postgresServer.make,
		"deploy/kubernetes/kustomization.yaml":        postgresServer.make,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			c := newContainer(t, file)
			if url != nil {
				postgrestest.Need(t)
				c.serves(url(t))
			} else {
				noErr(t, os.Mkdir(filepath.Join(c.root, "data"), 0o700))
				noErr(t, os.Chown(filepath.Join(c.root, "data"), containerUser, containerUser))
				c.serves("")
			}
		})
	}
}

// serves answers a message, says that it is healthy, and stops when it is told to.
func (c *container) serves(database string) {
	t := c.t
	model := llmtest.NewOpenAI()
	t.Cleanup(model.Close)
	overTLS := httptest.NewTLSServer(&model.Server)
	t.Cleanup(overTLS.Close)
	trusted := "etc/ssl/certs/ca-certificates.crt"
	if n := strings.Count(readFile(filepath.Join(c.root, trusted)), "BEGIN CERTIFICATE"); n < 50 {
		t.Errorf("%d certificates are trusted", n)
	}
	noErr(t, os.Remove(filepath.Join(c.root, trusted)))
	c.write(trusted, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: overTLS.Certificate().Raw})))

	const token = "a-long-random-token-of-ann"
	all := strings.Join(c.env, "\n")
	for name, value := range map[string]string{
		"database-url": database, "tokens": "ann=" + token, "secret-key": strings.Repeat("k", 32),
		"metrics-token": strings.Repeat("m", 16),
	} {
		for _, m := range regexp.MustCompile(`(?m)=(/.*/`+name+`)$`).FindAllStringSubmatch(all, -1) {
			c.write(m[1], value+"\n")
		}
	}
	if !strings.Contains(all, "GATEHOUSE_TOKENS_FILE=") {
		c.env = append(c.env, "GATEHOUSE_TOKENS=ann="+token)
	}
	c.write("policy.yaml", `version: 1
rules:
  - name: notes
    tools: [note.add]
    action: ask
    approvers: [openharness:bob]
    remind: [4h]
    hours: {zone: Europe/Berlin, days: [mon-fri], from: 09:00, to: 17:30}
`)
	address := freeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	c.env = append(c.env, "GATEHOUSE_LISTEN=0.0.0.0:"+port, "GATEHOUSE_APPROVAL_POLICY=/policy.yaml",
		"GATEHOUSE_MODEL=openai:gpt-test", "OPENAI_API_KEY=sk-test-0123456789", "OPENAI_BASE_URL="+overTLS.URL+"/v1")
	model.Then(llmtest.OpenAISay("From inside the box."))
	before := c.files()

	served := c.start("serve")
	up, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		select {
		case <-served.done:
			cancel()
		case <-up.Done():
		}
	}()
	(&serveProcess{at: "http://" + address}).waitUp(up)
	if said := c.prints("health"); said != "ok\n" {
		t.Errorf("health prints %q", said)
	}
	ann := newShell(t, "http://"+address, token)
	said := ann.must(ann.send(request("r1", "s1", "hello")))
	if texts := said.texts(); !slices.Contains(texts, "From inside the box.") {
		t.Errorf("the answer is %q; it printed\n%s", texts, served.out)
	}
	if err := served.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	served.quit(t)
	if code := served.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ends with %d:\n%s", code, served.out)
	}
	if after := c.files(); !slices.Equal(before, after) {
		t.Errorf("there are other files:\n%q\nbefore:\n%q", after, before)
	}
}

// TestTheImageSaysWhatItIs: the version that the build was told, and a list of what is in the program.
func TestTheImageSaysWhatItIs(t *testing.T) {
	c := newContainer(t, "")
	if said := c.prints("version"); !strings.HasPrefix(said, "gatehouse v0.0.0-test (0123abc), go") {
		t.Errorf("it is %s", said)
	}
	var list struct {
		Format   string `json:"bomFormat"`
		Metadata struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version string }
	}
	noErr(t, json.Unmarshal([]byte(readFile(filepath.Join(c.root, "gatehouse.cdx.json"))), &list))
	if list.Format != "CycloneDX" || list.Metadata.Component.Version != "v0.0.0-test" {
		t.Errorf("the list is of %+v", list.Metadata)
	}
	listed := map[string]string{}
	for _, one := range list.Components {
		listed[one.Name] = one.Version
	}
	info, err := buildinfo.ReadFile(filepath.Join(c.root, "gatehouse"))
	noErr(t, err)
	for _, m := range info.Deps {
		if listed[m.Path] != m.Version {
			t.Errorf("%s %s is listed as %q", m.Path, m.Version, listed[m.Path])
		}
	}
	if listed["glibc"] == "" || listed["github.com/mattn/go-sqlite3"] == "" || len(listed) < len(info.Deps) {
		t.Errorf("the list lacks what is written in C: %v", listed)
	}
}
