package slacktest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TypesKey is the environment variable with the folder that .ci/slack-types prints: Slack's own TypeScript packages,
// and the compiler.
const TypesKey = "GATEHOUSE_TEST_SLACK_TYPES"

// NeedsTypes skips a test for which Slack's types are not there.
func NeedsTypes(t testing.TB) {
	t.Helper()
	if os.Getenv(TypesKey) == "" {
		t.Skip("SKIPPED: no requests were compared with Slack's types. Set " + TypesKey +
			" to what .ci/slack-types prints.")
	}
}

// TypeCheck compares everything that the app has sent to these servers with Slack's own types: the arguments of every
// call of the Web API, and in them each block, attachment, view and metadata; posts to response URLs; answers to forms.
// It fails the test with each request that does not have its type, and returns how many different ones it compared, by
// the method.
func TypeCheck(t testing.TB, servers ...*Server) map[string]int {
	t.Helper()
	NeedsTypes(t)
	file := typed{seen: map[string]bool{}, count: map[string]int{}}
	file.begin()
	for _, s := range servers {
		for _, c := range s.Calls() {
			file.call(c)
		}
		for _, d := range s.Deliveries() {
			for _, a := range d.Attempts() {
				file.answer(d, a.Answer)
			}
		}
	}
	faults, err := file.compile(t.Context(), os.Getenv(TypesKey), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
	return file.count
}

// typed is a TypeScript file with a constant for each request.
type typed struct {
	text  bytes.Buffer
	lines []string // of the text: one for each constant
	seen  map[string]bool
	count map[string]int
}

// strict are types that are narrower than Slack's. Where Slack's allow a block of any type with any members, for those
// who use blocks that the types do not know yet, ours must be one that they know.
const strict = `import type * as api from '@slack/web-api'; ` +
	`import type {KnownBlock, RichTextBlock, MessageAttachment, MessageMetadata, ModalView, HomeView} ` +
	`from '@slack/types'; ` +
	`type Blocks = KnownBlock[]; ` +
	`type Attachment = Omit<MessageAttachment, 'blocks'> & {blocks?: KnownBlock[]}; ` +
	`type Modal = Omit<ModalView, 'blocks'> & {blocks: KnownBlock[]}; ` +
	`type Home = Omit<HomeView, 'blocks'> & {blocks: KnownBlock[]}; ` +
	`type Response = {text?: string, blocks?: KnownBlock[], attachments?: Attachment[], thread_ts?: string, ` +
	`response_type?: 'ephemeral' | 'in_channel', replace_original?: boolean, delete_original?: boolean}; ` +
	`type FormAnswer = {response_action: 'errors', errors: Record<string, string>} | {response_action: 'clear'} | ` +
	`{response_action: 'update' | 'push', view: Modal};`

// wrong are constants that do not have their types: if one is accepted, so might be any request.
var wrong = map[string]string{
	"api.ChatPostMessageArguments": `{channel: 'C1', text: 'x', surely_not: 1}`,
	"api.ViewsOpenArguments":       `{trigger_id: 't', view: 5}`,
	"Blocks":                       `[{type: 'section', text: {type: 'mrkdwn', text: 'x'}, surely_not: 1}]`,
	"Attachment":                   `{fallback: 'x', blocks: [{type: 'surely_not'}]}`,
	"RichTextBlock": `{type: 'rich_text', ` +
		`elements: [{type: 'rich_text_list', style: 'ordered', offset: 1, elements: []}]}`,
	"Modal":           `{type: 'modal', title: {type: 'mrkdwn', text: 'x'}, blocks: []}`,
	"MessageMetadata": `{event_type: 'x'}`,
	"Response":        `{response_type: 'loud'}`,
	"FormAnswer":      `{response_action: 'errors'}`,
}

func (f *typed) begin() {
	f.line(strict)
	for kind, value := range wrong {
		f.line("// @ts-expect-error what is wrong is found")
		f.line(fmt.Sprintf("export const w%d: %s = %s;", len(f.lines), kind, value))
	}
}

func (f *typed) line(text string) {
	f.lines = append(f.lines, text)
	f.text.WriteString(text + "\n")
}

// add adds a constant, unless there is one like it.
func (f *typed) add(of, kind, value string) {
	if key := of + kind + value; !f.seen[key] {
		f.seen[key] = true
		f.count[of]++
		f.line(fmt.Sprintf("export const r%d: %s = %s; // %s", len(f.lines), kind, value, of))
	}
}

// place is where the compiler finds a fault.
var place = regexp.MustCompile(`^requests\.mts\((\d+),\d+\): (.*)`)

// compile returns a fault for each constant that does not have its type, with the constant.
func (f *typed) compile(ctx context.Context, types, dir string) (faults []string, err error) {
	err = os.Symlink(filepath.Join(types, "node_modules"), filepath.Join(dir, "node_modules"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "requests.mts"), f.text.Bytes(), 0o600)
	}
	if err != nil {
		return nil, err
	}
	tsc := exec.CommandContext(ctx, "node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--pretty",
		"false",
		"--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "requests.mts")
	tsc.Dir = dir
	out, err := tsc.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	for text := range strings.Lines(string(out)) {
		found := place.FindStringSubmatch(text)
		if found == nil {
			if len(faults) == 0 {
				return nil, fmt.Errorf("comparing requests with Slack's types: %w\n%s", err, out)
			}
			faults[len(faults)-1] += "\n" + strings.TrimRight(text, "\n") // why, in more detail
			continue
		}
		n, _ := strconv.Atoi(found[1]) // it is digits
		faults = append(faults, fmt.Sprintf("Slack's types have no such request: %s\n%s", f.lines[n-1], found[2]))
	}
	return faults, nil
}
