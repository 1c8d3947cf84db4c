package main

import (
	"context"
	"embed"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

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

// completeCmd is what the shells' scripts call: it prints the words that may stand in place of the last one, one a
// line.
//
// Decision, 2026-11: own scripts of a few lines for each shell, which ask the program. A library (kongplete,
// kong-completion) brings another parser of command lines with it, and installs itself into the person's shell start-up
// files.
type completeCmd struct {
	Words []string `arg:"" optional:"" help:"The words after gatehouse up to the cursor; the last one may be empty."`
}

// Run prints the candidates.
func (c completeCmd) Run(_ context.Context, a *cli.App, parsed *kong.Context) error {
	for _, word := range candidates(parsed.Model.Node, c.Words) {
		a.PrintLine("%s", word)
	}
	return nil
}

// candidates returns the subcommands, flags or values that may stand in place of the last word.
func candidates(node *kong.Node, words []string) []string {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	var flag *kong.Flag // the one whose value comes next
	at := 0             // the number of arguments so far
	for _, word := range words[:len(words)-1] {
		switch {
		case flag != nil:
			flag = nil
		case strings.HasPrefix(word, "-"):
			if flag = flagOf(node, word); flag != nil && flag.IsBool() {
				flag = nil
			}
		default:
			if child := childOf(node, word); child != nil {
				node, at = child, 0
			} else {
				at++
			}
		}
	}
	var all []string
	switch {
	case flag != nil:
		all = flag.EnumSlice()
	case strings.HasPrefix(last, "-"):
		for _, level := range node.AllFlags(true) {
			for _, f := range level {
				all = append(all, "--"+f.Name)
			}
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				all = append(all, child.Name)
			}
		}
		if at < len(node.Positional) {
			all = append(all, node.Positional[at].EnumSlice()...)
		}
	}
	return slices.DeleteFunc(all, func(word string) bool { return word == "" || !strings.HasPrefix(word, last) })
}

func childOf(node *kong.Node, name string) *kong.Node {
	if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == name }); i >= 0 {
		return node.Children[i]
	}
	return nil
}

// flagOf returns the flag whose value is the next word; nil if there is none, or word has its value after an equals
// sign.
func flagOf(node *kong.Node, word string) *kong.Flag {
	for _, level := range node.AllFlags(false) {
		for _, f := range level {
			if "--"+f.Name == word {
				return f
			}
		}
	}
	return nil
}
