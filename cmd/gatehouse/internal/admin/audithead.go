package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage"
)

// headView is a head of the audit log as it is kept elsewhere.
type headView struct {
	Seq    int64     `json:"seq"`
	Hash   string    `json:"hash"`
	Pruned time.Time `json:"pruned,omitzero"`
	Seal   string    `json:"seal"`
}

// hashLength is the length of an entry's hash.
const hashLength = 64

// head prints the head. A head that is not sealed is not worth keeping.
func (c approvalsLogCmd) head(ctx context.Context, a *cli.App, store *storage.Store) error {
	h, err := store.AuditHead(ctx)
	if err != nil {
		return err
	}
	keys, err := c.keys(ctx, store)
	if err != nil {
		return err
	}
	if !keys.VerifyHead(h, "") {
		return cli.Bad(core.Errorf(core.Invalid, "The head of the audit log was not sealed with a key that this "+
			"process has. Set GATEHOUSE_SECRET_KEY as the gateway has it, and run gatehouse approvals log --verify "+
			"to see what is wrong."))
	}
	text, err := json.Marshal(headView(h))
	if err != nil {
		return fmt.Errorf("encoding the head: %w", err)
	}
	fmt.Fprintln(a.Out, string(text))
	return nil
}

// expectedHash returns the hash of the entry that the log must have: a hash, or the one in a head, whose seal it
// checks. It is "" for the head of an empty log.
func expectedHash(text string, keys audit.Keys) (string, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		if len(text) != hashLength {
			return "", core.Errorf(core.Invalid, "--expect needs the %d characters of a hash that gatehouse "+
				"approvals log --verify printed, or a line that gatehouse approvals log --head printed.", hashLength)
		}
		return strings.ToLower(text), nil
	}
	var v headView
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return "", core.Wrap(core.Invalid, err, "--expect has a head that is not JSON. Give it a line that gatehouse "+
			"approvals log --head printed.")
	}
	if h := audit.Head(v); !keys.VerifyHead(h, "") {
		return "", cli.Bad(core.Errorf(core.Invalid, "The head that --expect names was not sealed with a key that "+
			"this process has: it was changed, or GATEHOUSE_SECRET_KEY lacks its key."))
	}
	return v.Hash, nil
}
