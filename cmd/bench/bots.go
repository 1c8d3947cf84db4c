package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gatehouse/cmd/bench/internal/floor"
	"gatehouse/cmd/bench/internal/load"
)

// bot is a program to be measured. prepare makes what one run of it needs, in a folder; the cleanup is called after the run.
type bot struct {
	name    string
	prepare func(ctx context.Context, dir string) (b load.Bot, cleanup func() error, err error)
}

// freePort returns a port that nothing listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String()) // can't fail: it is an address
	return port, l.Close()
}

// Where gatehouse takes events, and the floor bot too.
const (
	pathEvents       = "/slack/events"
	pathInteractions = "/discord/interactions"
)

// gatehouseBot is gatehouse with the echo agent, without limits for people and channels, on a new database.
func (o *options) gatehouseBot() bot {
	return bot{name: "gatehouse", prepare: func(ctx context.Context, dir string) (load.Bot, func() error, error) {
		db, err := databaseFile(ctx, o.existing), error(nil)
		if o.existing == "" {
			db, err = newDatabase(ctx, o.database, dir)
		}
		if err != nil {
			return load.Bot{}, nil, err
		}
		env := []string{
			"GATEHOUSE_DATABASE_URL=" + db.url, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=" + o.delay.String(), "GATEHOUSE_RATE=0",
			"SLACK_CHANNEL_RPS=0", "DISCORD_REPLY=channel",
		}
		env = append(env, o.env...)
		b := load.Bot{
			Name: "gatehouse", Stored: db.size, Server: db.cpu, Idle: func() (bool, error) { return nothingQueued(ctx, o.gatehouse, env) },
		}
		path := pathEvents
		if o.discord {
			path = pathInteractions
		}
		for range max(1, o.replicas) {
			port, err := freePort()
			if err != nil {
				return load.Bot{}, nil, errors.Join(err, db.drop())
			}
			b.Instances = append(b.Instances, load.Instance{
				Program: []string{o.gatehouse, "serve"}, Env: append(slices.Clone(env), "GATEHOUSE_LISTEN=127.0.0.1:"+port),
				URL: "http://127.0.0.1:" + port + path, Ready: "http://127.0.0.1:" + port + "/readyz",
			})
		}
		return b, db.drop, nil
	}}
}

// nothingQueued asks gatehouse whether it has something left to do.
func nothingQueued(ctx context.Context, program string, env []string) (bool, error) {
	command := exec.CommandContext(ctx, program, "queue", "--json")
	command.Env = env
	out, err := command.Output()
	if err != nil {
		return false, fmt.Errorf("%s queue: %w", program, err)
	}
	var queue struct{ Posts int }
	err = json.Unmarshal(out, &queue)
	return queue.Posts == 0, err
}

// buildGatehouse builds gatehouse from the module of the working directory.
func buildGatehouse(ctx context.Context, dir string) (program string, err error) {
	program = filepath.Join(dir, "gatehouse")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "gatehouse/cmd/gatehouse").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building gatehouse (--gatehouse takes one that is built): %w\n%s", err, out)
	}
	return program, nil
}

// floorCommand is the command that makes this program the floor bot.
const floorCommand = "floor-bot"

// floorBot is the floor bot: this program, started again.
func floorBot(delay time.Duration) (bot, error) {
	self, err := os.Executable()
	if err != nil {
		return bot{}, err
	}
	return bot{name: "floor", prepare: func(context.Context, string) (load.Bot, func() error, error) {
		port, err := freePort()
		return load.Bot{Name: "floor", Instances: []load.Instance{{
			Program: []string{self, floorCommand}, Env: []string{floor.Delay + "=" + delay.String()}, URL: "http://127.0.0.1:" + port + pathEvents,
		}}}, func() error { return nil }, err
	}}, nil
}

// peerBot is a bot that a command starts. The word PORT in its URL is replaced by a free port, which the command finds in its environment. Where
// it opens the connection itself, by Socket Mode or Discord's gateway, it needs no URL.
func (o *options) peerBot() (bot, error) {
	at, err := url.Parse(strings.Replace(o.url, ":PORT", ":1", 1))
	switch {
	case o.command == "":
		return bot{}, errors.New("a peer needs --command")
	case o.url == "" && (o.socket || o.discord && !o.interactions):
	case o.url == "":
		return bot{}, errors.New("a peer needs --url")
	case err != nil:
		return bot{}, fmt.Errorf("--url: %w", err)
	case at.Scheme != "http" || at.Port() == "":
		return bot{}, fmt.Errorf("--url: %s is not http://HOST:PORT/PATH", o.url)
	}
	return bot{name: "peer", prepare: func(context.Context, string) (load.Bot, func() error, error) {
		port, err := freePort()
		return load.Bot{Name: "peer", Instances: []load.Instance{{
			Program: []string{"sh", "-c", o.command}, URL: strings.Replace(o.url, ":PORT", ":"+port, 1),
		}}}, func() error { return nil }, err
	}}, nil
}
