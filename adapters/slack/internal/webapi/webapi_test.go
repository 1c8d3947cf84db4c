package webapi_test

import (
	"testing"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/slack/internal/webapi"
)

func TestTheTokenIsForHostsOfSlackAndGovSlackOnly(t *testing.T) {
	for host, own := range map[string]bool{
		"slack.com": true, "files.slack.com": true, "slack-gov.com": true, "files.slack-gov.com": true,
		"acme.enterprise.slack-gov.com": true,
		"":                              false, "com": false, "gov.com": false, "notslack-gov.com": false,
		"files.slack-gov.com.example.org": false, "slack-gov.example.org": false,
		"slack-gov.co": false, "slack.gov": false, ".slack-gov.com.": false, "notslack.com": false,
		"slack.com.example.org": false,
	} {
		if got := inbound.IsOneOf(webapi.OwnHosts, host); got != own {
			t.Errorf("%q: %v", host, got)
		}
	}
}

func TestThePageOfTheAppsIsWhereTheAPIIs(t *testing.T) {
	for address, want := range map[string]string{
		"https://slack.com/api/":                 "https://api.slack.com/apps",
		"https://slack-gov.com/api/":             "https://api.slack-gov.com/apps",
		"http://127.0.0.1:1/":                    "https://api.slack.com/apps",
		"https://slack-gov.com.example.org/api/": "https://api.slack.com/apps", "::": "https://api.slack.com/apps",
	} {
		if got := (webapi.Config{URL: address}).AppsPage(); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}
