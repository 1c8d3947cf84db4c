package wire_test

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core/strictjson"
)

// vocabulary are the words of the protocol that a fault may use although a body has them too.
var vocabulary = strings.NewReplacer(
	"protocol_version", "", "request_id", "", "correlation_id", "", "capabilities", "", "openharness.streaming", "",
	"openharness.actions.parallel", "",
	"openharness.attachments.upload", "", "openharness.ui.rich_cards", "", "openharness.ui.approval", "", "extensions",
	"", "dev.gatehouse", "", "session_id", "",
	"conversation_id", "", "user_intent", "", "task_hint", "", "continuation_token", "", "continuation", "",
	"environment_state", "", "privacy_tier", "", "active_window", "",
	"screen_hash", "", "attachments", "", "shell_kind", "", "shell_version", "", "credential_ref", "", "business_key",
	"", "plugin_id", "", "size_bytes", "", "context", "",
)

// FuzzDecode: nothing panics; a fault repeats nothing of the body; what is accepted can be echoed, and its digest does
// not depend on the order of keys and white space.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(base))
	f.Add([]byte(attachment(`"ref_id":"a","uri":"data:,x","size_bytes":1e3`)))
	f.Add([]byte(context(`"continuation":{"run_id":"r"},"environment_state":{"privacy_tier":"secret"}`)))
	f.Add([]byte(root(`"capabilities":{"openharness.streaming":{}},"x":[[],{}]`)))
	if dir := fixtures(); dir != "" {
		found, _ := filepath.Glob(filepath.Join(dir, "*/*/*/request.json"))
		for _, file := range found {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, fault := wire.Decode(body, wire.Limits{})
		if text := wire.New(r).Encode(); !bytes.Contains(text, []byte(`"protocol_version":"1.0.0"`)) ||
			len(text) > 4<<10 {
			t.Fatalf("%s", text)
		}
		if fault != nil {
			if fault.Code == "" || fault.Message == "" {
				t.Fatalf("%+v", *fault)
			}
			message := vocabulary.Replace(fault.Message)
			for i := 0; i+12 <= len(message); i++ {
				if bytes.Contains(body, []byte(message[i:i+12])) {
					t.Fatalf("%q repeats the body", fault.Message)
				}
			}
			return
		}
		v, err := strictjson.Parse(body)
		if err != nil {
			t.Fatalf("%s is accepted: %v", body, err)
		}
		seed := fnv.New64()
		seed.Write(body)
		again := written(nil, v, rand.New(rand.NewPCG(seed.Sum64(), 0)), false)
		other, fault := wire.Decode(again, wire.Limits{})
		if fault != nil || other.Digest() != r.Digest() {
			t.Fatalf("%s\n%+v, %+v\n%+v", again, fault, other, r)
		}
	})
}
