package admin

import (
	"context"
	"io"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/approvals/proof"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
)

// Verify is gatehouse approvals verify. It asks no server; with --keys it needs no database and no configuration
// either.
type Verify struct {
	cli.JSONFlag
	Proof     string `arg:"" help:"The proof that came with a decision; - reads it from standard input."`
	Keys      string `placeholder:"FILE" help:"${verify_keys}"`
	Arguments string `placeholder:"FILE" help:"${verify_arguments}"`
}

// Help says more than one line.
func (Verify) Help() string {
	return "Exit code 0: the proof holds. 1: it does not, or is of other arguments. With --json an object is " +
		"printed: {valid, claims}, or {valid, error}."
}

// maxProofInput is how many bytes of standard input are read: more than a proof may have.
const maxProofInput = 64 << 10

// Run prints what was decided, or why the proof does not hold.
func (c Verify) Run(ctx context.Context, a *cli.App) error {
	text, err := c.proof(a)
	if err != nil {
		return err
	}
	arguments, err := c.arguments()
	if err != nil {
		return err
	}
	set, err := c.set(ctx, a)
	if err != nil {
		return err
	}
	claims, err := proof.Verify(text, set)
	if err == nil && arguments != nil {
		err = claims.Covers(arguments)
	}
	switch {
	case c.JSON && err != nil:
		if err := a.PrintJSON(map[string]any{"valid": false, "error": core.MessageOf(err)}); err != nil {
			return err
		}
	case c.JSON:
		return a.PrintJSON(map[string]any{"valid": true, "claims": claims})
	case err == nil:
		c.print(a, claims)
	}
	return cli.Bad(err)
}

// proof is the text of the proof, without the white space around it.
func (c Verify) proof(a *cli.App) (string, error) {
	if c.Proof != "-" {
		return strings.TrimSpace(c.Proof), nil
	}
	text, err := io.ReadAll(io.LimitReader(a.In, maxProofInput))
	if err != nil {
		return "", core.Errorf(core.Invalid, "Standard input can't be read: %v.", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// arguments are those of the file; nil without one.
func (c Verify) arguments() ([]byte, error) {
	if c.Arguments == "" {
		return nil, nil
	}
	text, err := core.ReadText(c.Arguments)
	if err != nil {
		return nil, core.Errorf(core.Invalid, "--arguments: %v.", err)
	}
	if _, err := proof.Canonical(text); err != nil {
		return nil, core.Errorf(core.Invalid, "--arguments: %s: %s", c.Arguments, core.MessageOf(err))
	}
	return text, nil
}

// set is the keys of the file or, without one, those of the installation: its secret keys, or the one in its database.
func (c Verify) set(ctx context.Context, a *cli.App) (jose.JSONWebKeySet, error) {
	if c.Keys != "" {
		text, err := core.ReadText(c.Keys)
		if err != nil {
			return jose.JSONWebKeySet{}, core.Errorf(core.Invalid, "--keys: %v.", err)
		}
		set, err := proof.ParseSet(text)
		if err != nil {
			return set, core.Errorf(core.Invalid, "--keys: %s: %s", c.Keys, core.MessageOf(err))
		}
		return set, nil
	}
	cfg, _, err := a.Settings.LoadForCommands()
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	if len(cfg.Keys) > 0 {
		signer, err := core.NewSigner(cfg.Keys...)
		if err != nil {
			return jose.JSONWebKeySet{}, err
		}
		return proof.NewKeys(signer).Set(), nil
	}
	store, err := a.Store(ctx)
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	return proof.NewKeys(store.Signer()).Set(), nil
}

func (c Verify) print(a *cli.App, p proof.Claims) {
	a.PrintLine("The proof holds.")
	by := p.By
	if p.ByID != "" && p.ByID != p.By && !strings.HasSuffix(p.By, "("+p.ByID+")") { // the local admin's name has it
		by += " (" + p.ByID + ")"
	}
	a.Fields("approval", p.Subject, "action", p.Action, "decision", p.Decision, "by", by, "at", p.At, "rule", p.Rule,
		"asked by", p.Principal, "digest", p.Digest, "answer", p.AnswerDigest)
	if c.Arguments != "" {
		a.Fields("arguments", "those in "+c.Arguments)
	}
}
