// Package people is the commands that export and erase what is kept of a person.
//
//	gatehouse people export PERSON > person.json
//	gatehouse people erase PERSON --snapshots
//
// A person is one account, as it is written elsewhere. The store does the work, in short transactions beside a running
// gatehouse serve: see sqlstore's ErasePerson. What is not in the database, such as the messages on a platform and
// backups, is only named.
package people

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"gatehouse/adapters/console"
	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// Commands are gatehouse people.
type Commands struct {
	Export exportCmd `cmd:"" help:"Print everything that is kept of a person, as JSON."`
	Erase  eraseCmd  `cmd:"" help:"Erase a person: what they wrote, and quotations of it, become [erased]."`
}

// account is a person as all commands write them.
type account struct {
	Person string `arg:"" help:"An account, such as ${person}."`
}

type exportCmd struct{ account }

// Run prints the export. It fails with exit code 3 if nothing is kept of the person.
func (c exportCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	all, err := store.ExportPerson(ctx, c.Person)
	if err != nil {
		return err
	}
	return a.PrintJSON(all)
}

type eraseCmd struct {
	account
	cli.JSONFlag
	cli.YesFlag
	Replies   bool          `help:"Erase what the bot answered them, too."`
	Now       bool          `help:"Erase them even if something waits that quotes them; it keeps its text for good."`
	Snapshots bool          `help:"Remove the snapshots beside the database, which still hold the person."`
	Wait      time.Duration `default:"1m" help:"How long to wait for a turn or a call of theirs that runs."`
}

// eraseView is the JSON output of an erasure.
type eraseView struct {
	Person    string            `json:"person"`
	Rows      int               `json:"rows"`
	Erased    bool              `json:"erased"`
	Posts     int               `json:"posts_kept"`
	Events    int               `json:"events_kept"`
	Approvals []core.ApprovalID `json:"approvals_kept"`
	Snapshots []string          `json:"snapshots_kept"`
	Removed   []string          `json:"snapshots_removed"`
}

// Run erases the person. It may be repeated, and a run that was killed is made again.
func (c eraseCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	cfg, _, err := a.Settings.LoadForCommands()
	if err != nil {
		return err
	}
	if !c.Yes && !console.IsTerminal(a.In, a.Out) {
		return core.Errorf(core.Invalid, "This can't be undone. Give --yes to do it without a question.")
	}
	if _, err := store.PersonRuns(ctx, c.Person); err != nil { // somebody who is known
		return err
	}
	question := fmt.Sprintf("Erase %s? Their open approvals are cancelled. This can't be undone.", c.Person)
	if err := a.Ask(ctx, c.YesFlag, question); err != nil {
		return err
	}
	done, err := c.erase(ctx, store)
	if err != nil {
		return cli.Bad(err)
	}
	v := eraseView{
		Person: c.Person, Rows: done.Rows, Erased: done.Own, Posts: done.Posts, Events: done.Events,
		Approvals: done.Approvals,
	}
	if !done.Own {
		return v.notYet(a, c.JSON)
	}
	if v.Snapshots, err = snapshots(cfg.DatabaseURL); err != nil {
		return err
	}
	if c.Snapshots {
		for _, file := range v.Snapshots {
			if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
				return core.Wrap(core.Internal, err, "The snapshot %s can't be removed. Everything else is erased.",
					file)
			}
		}
		v.Removed, v.Snapshots = v.Snapshots, nil
	}
	if c.JSON {
		return a.PrintJSON(v)
	}
	v.print(a, cfg.DatabaseURL)
	return nil
}

// erase waits for what runs, and erases. Until nothing runs, nothing is changed.
func (c eraseCmd) erase(ctx context.Context, store *storage.Store) (storage.Erasure, error) {
	waiting, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	for {
		runs, err := store.PersonRuns(ctx, c.Person)
		switch {
		case err != nil:
			return storage.Erasure{}, err
		case runs == "":
			if err := c.forget(ctx, store); err != nil {
				return storage.Erasure{}, err
			}
			return store.ErasePerson(ctx, c.Person, storage.Erasing{Replies: c.Replies, Now: c.Now})
		}
		select {
		case <-waiting.Done():
			return storage.Erasure{}, core.Errorf(core.Invalid,
				"%s Nothing was erased. Stop it, or wait until it has ended, and try again.", runs)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// forget revokes what is remembered for the person, so that no call passes meanwhile.
func (c eraseCmd) forget(ctx context.Context, store *storage.Store) error {
	all, err := store.ListApprovals(ctx, core.ApprovalFilter{States: []core.ApprovalState{core.Approved}})
	if err != nil {
		return err
	}
	service := approvals.NewService(store, store)
	for _, p := range all {
		if p.Requester.ID != c.Person || p.Use != nil || p.NextUse(0, time.Now()) == nil {
			continue
		}
		_, err := service.AdminVote(ctx, core.Click{Approval: p.ID, Choice: core.Forget}, "", "people erase")
		switch core.CategoryOf(err) {
		case "", core.ApprovalMismatch, core.NotFound: // what the audit log contradicts allows nothing
		default:
			return err
		}
	}
	return nil
}

// snapshotName is how the snapshots before migrations are called.
var snapshotName = regexp.MustCompile(`\.v[0-9]+-[^/]*\.snapshot$`)

// snapshots are the snapshots beside a SQLite database.
func snapshots(url string) (found []string, err error) {
	if storage.IsServer(url) {
		return nil, nil
	}
	file := storage.FileOf(url)
	all, err := os.ReadDir(filepath.Dir(file))
	for _, f := range all {
		name := f.Name()
		if strings.HasPrefix(name, filepath.Base(file)+".") && snapshotName.MatchString(name) {
			found = append(found, filepath.Join(filepath.Dir(file), name))
		}
	}
	return found, err
}

// waits is what keeps its text; "" = nothing.
func (v eraseView) waits() string {
	var all []string
	if v.Posts > 0 {
		all = append(all, fmt.Sprintf("%d posts that are not settled", v.Posts))
	}
	if v.Events > 0 {
		all = append(all, fmt.Sprintf("%d messages that wait or are dead letters", v.Events))
	}
	for _, id := range v.Approvals {
		all = append(all, "the approval "+string(id))
	}
	return strings.Join(all, ", ")
}

// notYet says that the person's own texts are not erased, and fails.
func (v eraseView) notYet(a *cli.App, asJSON bool) error {
	if asJSON {
		if err := a.PrintJSON(v); err != nil {
			return err
		}
	}
	return cli.Bad(core.Errorf(core.Invalid, "%s is not yet erased: what quotes them, or is theirs, still waits (%s). "+
		"Their own texts are kept until then, to find it. Settle it (gatehouse queue lists it) and run this again, "+
		"or give --now.", v.Person, v.waits()))
}

// print says what was done, and where the person still is.
func (v eraseView) print(a *cli.App, url string) {
	a.PrintLine("Erased %s. Their account id stays in the audit log and in the ids of conversations.", v.Person)
	if waits := v.waits(); waits != "" {
		a.PrintLine("What still waits keeps its text, and what it quotes can't be found later: %s.", waits)
	}
	if len(v.Removed) > 0 {
		a.PrintLine("Removed %d snapshots beside the database.", len(v.Removed))
	}
	if len(v.Snapshots) > 0 {
		a.PrintLine("These snapshots still hold them; --snapshots removes them: %s", strings.Join(v.Snapshots, ", "))
	}
	a.PrintLine("Backups, and messages on the platform, still hold them: delete them there.")
	if strings.HasPrefix(url, "postgres") {
		a.PrintLine("Postgres keeps what was deleted until it is vacuumed: run VACUUM.")
	}
}
