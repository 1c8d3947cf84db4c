package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/cmd/bench/internal/discord"
	"gatehouse/cmd/bench/internal/floor"
	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/mix"
	"gatehouse/cmd/bench/internal/slack"
)

// bot is a program to be measured. prepare makes what one run of it needs, in a folder; the cleanup is called after the
// run.
type bot struct {
	name    string
	prepare func(ctx context.Context, dir string) (b load.Bot, cleanup func() error, err error)
}

// The ports that are tried: below those that the system gives to outgoing connections, of which a bench makes many.
const (
	firstPort = 15000
	ports     = 15000
	portTries = 50
)

// freePort returns a port that nothing listens on.
func freePort() (port string, err error) {
	for range portTries {
		port = strconv.Itoa(firstPort + rand.N(ports))
		l, failed := net.Listen("tcp", "127.0.0.1:"+port)
		if failed == nil {
			return port, l.Close()
		}
		err = failed
	}
	return "", err
}

// Where gatehouse takes events, and the floor bot too.
const (
	pathEvents       = "/slack/events"
	pathInteractions = "/discord/interactions"
)

// gatehouseBot is a program of gatehouse with the echo agent, or the script of the mix, without limits for people and
// channels, on a new database.
func (o *options) gatehouseBot(name, program string) bot {
	return bot{name: name, prepare: func(ctx context.Context, dir string) (load.Bot, func() error, error) {
		db, err := newDatabase(ctx, o.database, dir)
		if err != nil {
			return load.Bot{}, nil, err
		}
		env := []string{
			"GATEHOUSE_DATABASE_URL=" + db.url, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=" + o.delay.String(),
			"GATEHOUSE_RATE=0",
			"SLACK_CHANNEL_RPS=0", "DISCORD_REPLY=channel",
		}
		if o.plan.Mix {
			script, err := mix.Write(dir)
			if err != nil {
				return load.Bot{}, nil, errors.Join(err, db.drop())
			}
			approvers := "GATEHOUSE_APPROVERS=slack:" + slack.Approver + ",discord:" + discord.Approver
			env = append(env, "GATEHOUSE_AGENT="+script, approvers)
		}
		env = append(env, o.env...)
		b := load.Bot{
			Name: name, Stored: db.size, Server: db.cpu, Idle: func() (bool, error) {
				return nothingQueued(ctx, program, env)
			},
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
				Program: []string{program, "serve"}, Env: append(slices.Clone(env), "GATEHOUSE_LISTEN=127.0.0.1:"+port),
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
			Program: []string{self, floorCommand}, Env: []string{floor.Delay + "=" + delay.String()},
			URL: "http://127.0.0.1:" + port + pathEvents,
		}}}, func() error { return nil }, err
	}}, nil
}

// peerBot is a bot that a command starts. The word PORT in its URL is replaced by a free port, which the command finds
// in its environment. Where it opens the connection itself, by Socket Mode or Discord's gateway, it needs no URL.
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
