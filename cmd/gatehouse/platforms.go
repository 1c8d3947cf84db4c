package main

import (
	"net/http"

	"gatehouse/adapters/console"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/openharness"
	"gatehouse/adapters/slack"
	"gatehouse/core"
)

// platforms are all platforms of the program: adding one is a folder, and its line here.
func platforms() []core.Driver {
	return []core.Driver{
		new(slack.Config),
		new(discord.Config),
		new(openharness.Config),
		new(console.Config),
		console.Local{},
	}
}

// routes are the handlers of a platform that receives events over HTTP, by their patterns of net/http's ServeMux.
type routes func(accept core.Accept) map[string]http.Handler

// webhook is a platform that may receive events over HTTP. Without settings for that it has no routes.
type webhook interface {
	Routes(accept core.Accept) map[string]http.Handler
}

// routesOf are a platform's; nil: it has none.
func routesOf(p core.Platform) routes {
	if w, ok := p.(webhook); ok && len(w.Routes(nil)) > 0 {
		return w.Routes
	}
	return nil
}

// open makes the configured platforms, and the routes of those that receive events over HTTP.
func (p shared) open(owner string) (all []core.Platform, webhooks []routes, err error) {
	for _, d := range p.cfg.Drivers {
		if !d.Configured() {
			continue
		}
		platform, err := d.Open(p.deps(owner))
		if err != nil {
			return nil, nil, err
		}
		all = append(all, platform)
		if r := routesOf(platform); r != nil {
			webhooks = append(webhooks, r)
		}
	}
	return all, webhooks, nil
}
