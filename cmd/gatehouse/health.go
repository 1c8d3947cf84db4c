package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
)

// healthTime is the time limit of gatehouse health.
const healthTime = 5 * time.Second

// healthCmd is gatehouse health.
type healthCmd struct {
	cli.JSONFlag
	Ready bool `help:"Ask /readyz: whether every platform can receive and send, too."`
}

// Run asks the gatehouse serve that listens on GATEHOUSE_LISTEN of this machine, and prints the answer. It exits with 1
// if that is not 200 or does not come. It opens no database and calls no platform, so a container's health check may
// run it often.
func (c healthCmd) Run(ctx context.Context, a *cli.App) error {
	cfg, _, err := a.Config(slog.LevelError)
	if err != nil {
		return err
	}
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	answer, err := getLocal(ctx, cfg, path)
	if core.CategoryOf(err) == core.Invalid {
		return err
	}
	url := localURL(cfg, path)
	if err != nil {
		return core.Wrap(core.ProviderUnavailable, err,
			"gatehouse serve does not answer at %s. Check that it is running, and that GATEHOUSE_LISTEN is the same "+
				"here.", url)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, headerBytes))
	if err != nil {
		return core.Wrap(core.ProviderUnavailable, err, "The answer of %s broke off.", url)
	}
	said := strings.TrimSpace(string(text))
	if c.JSON {
		err = a.PrintJSON(map[string]any{
			"url": url, "status": answer.StatusCode, "healthy": answer.StatusCode == http.StatusOK, "answer": said,
		})
	} else {
		a.PrintLine("%s", said)
	}
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return cli.Exit(cli.ExitBad, core.Errorf(core.Invalid, "%s answers %s.", url, answer.Status))
	}
	return nil
}

// localURL is where this machine reaches a path of its gatehouse serve.
func localURL(cfg settings.Config, path string) string {
	return "http://" + reachable(cfg.Listen) + path
}

// getLocal asks the gatehouse serve of this machine, so without a proxy, and with the token for metrics: its address
// may be one that is not loopback.
func getLocal(ctx context.Context, cfg settings.Config, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, localURL(cfg, path), nil)
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "GATEHOUSE_LISTEN is not an address that can be asked.")
	}
	if cfg.MetricsToken != "" {
		request.Header.Set("Authorization", "Bearer "+cfg.MetricsToken)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return client.Do(request)
}

// reachable is the address at which this machine reaches a server that listens on address: that of all interfaces is
// not one.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || host != "" && (ip == nil || !ip.IsUnspecified()) {
		return address
	}
	if strings.Contains(host, ":") {
		return net.JoinHostPort("::1", port)
	}
	return net.JoinHostPort("127.0.0.1", port)
}
