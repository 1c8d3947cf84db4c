package main

import (
	"context"
	"embed"

	"gatehouse/cmd/gatehouse/internal/cli"
)

// scripts are the completion scripts: completion/gatehouse.SHELL. They ask gatehouse __complete for the words.
//
//go:embed completion
var scripts embed.FS

// completionCmd is gatehouse completion.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help says how to use the script.
func (completionCmd) Help() string {
	return "bash: add  source <(gatehouse completion bash)  to ~/.bashrc.\n" +
		"zsh: add  source <(gatehouse completion zsh)  to ~/.zshrc, after compinit.\n" +
		"fish: run  gatehouse completion fish > ~/.config/fish/completions/gatehouse.fish"
}

// Run prints the script.
func (c completionCmd) Run(_ context.Context, a *cli.App) error {
	text, err := scripts.ReadFile("completion/gatehouse." + c.Shell)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}
