package main

import (
	"net/http"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/console"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/openai"
	"gatehouse/adapters/openharness"
	"gatehouse/adapters/slack"
	"gatehouse/core"
	"gatehouse/core/llm"
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

// modelVendors are all vendors of models: adding one is a folder, and its line here.
func modelVendors() []llm.Vendor {
	return []llm.Vendor{
		new(openai.Config),
		new(anthropic.Config),
	}
}

// routes are handlers by their patterns of net/http's ServeMux.
type routes = map[string]http.Handler

// webhook is a platform that may receive events over HTTP. Without settings for that it has no routes.
type webhook interface {
	Routes(accept core.Accept) routes
}

// routesOf are a platform's; nil: it has none.
func routesOf(p core.Platform, accept core.Accept) routes {
	if w, ok := p.(webhook); ok {
		return w.Routes(accept)
	}
	return nil
}

// called reports whether a platform receives events over HTTP.
func called(p core.Platform) bool { return len(routesOf(p, nil)) > 0 }

// open makes the configured platforms.
func (p shared) open(owner string) (all []core.Platform, err error) {
	for _, d := range p.cfg.Drivers {
		if d.Configured() {
			platform, err := d.Open(p.deps(owner))
			if err != nil {
				return nil, err
			}
			all = append(all, platform)
		}
	}
	return all, nil
}
