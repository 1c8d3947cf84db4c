package mask_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gatehouse/core/mask"
)

// TestLaw8_ASettingIsASecretByItsNameOrShape: each of these values is hidden, or the part of it that stands first.
func TestLaw8_ASettingIsASecretByItsNameOrShape(t *testing.T) {
	const s = "correct-horse"      // of no form
	for _, c := range [][3]string{ // what is hidden, name, value
		{s, "JIRA_API_TOKEN", s}, {s, "Authorization", s}, {s, "X-Api-Key", s}, {s, "PGPASSWORD", s}, {s, "DB_PASS", s},
		{s, "clientSecret", s}, {s, "API_KEY_2", s},
		{s, "STRIPE_KEY_LIVE", s}, {s, "secret_key_base", s}, {s, "GITHUB_PAT", s},
		{s, "Cookie", "theme=dark1; session=" + s}, {s, "SIGNING_KEY", s}, {"1234", "PIN", "1234"},
		{"123", "CARD_PIN", "123"},
		{s, "Authorization", "Bearer " + s}, {s, "X-Env", "Bearer " + s}, {s, "HEADER", "Authorization: Bearer " + s},
		{s, "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("ops:"+s))},
		{s, "X", "Basic " + base64.StdEncoding.EncodeToString([]byte("ops:"+s))},
		{s, "DATABASE_URL", "postgres://u:" + s + "@db.example/app"},
		{"p@ss", "REDIS_URL", "redis://:p@ss@cache:6379/0"}, {"p@ss", "URL", "https://u:p%40ss@host"},
		{s, "ENDPOINT", "https://api.example/v1?limit=20&api_key=" + s}, {s, "ENDPOINT", "https://h/x?sig=" + s},
		{"a b c", "ENDPOINT", "https://h/x?token=a%20b+c"},
		{s, "CONNECTION", "Server=db;Password=" + s + ";Timeout=5"},
		{s, "MCP_HEADERS", `{"Authorization": "Bearer ` + s + `", "Version": "2022-06-28"}`},
		{"sk_live_4f9Aq2Zx81LmPq77", "X", "sk_live_4f9Aq2Zx81LmPq77"},
		{"Kq7ZxWb2nMtRpLs4DfGh", "WHATEVER", "Kq7ZxWb2nMtRpLs4DfGh"},
		{"9f86d081884c7d659a2feaa0c55ad015", "WHATEVER", "9f86d081884c7d659a2feaa0c55ad015"},
		{"qT7bLmZx9RkWvYpN3cHd", "SLACK_WEBHOOK", "https://hooks.example/services/T01/B02/qT7bLmZx9RkWvYpN3cHd"},
		{"550e8400-e29b-41d4-a716-446655440000", "X", "https://h/s/550e8400-e29b-41d4-a716-446655440000/mcp"},
		{"ab&cdef", "CONNECTION", "Server=db;Password=ab&cdef;Timeout=5"},
		{"ab,cdef", "DSN", "host=db password=ab,cdef"},
		{s, "HEADERS", "Accept: text/plain\r\nX-Api-Key: " + s + "\r\nX-Env: dev"},
		{s, "COMMAND", "npx -y server --api-key " + s + " --region north"},
		{s, "COMMAND", "npx mcp-remote https://h/mcp --header 'X-Auth-Token: " + s + "'"}, {s, "DB_PW", s},
		{s, "SEED_PHRASE", s},
		{"ab12cd", "X", "https://h/token/ab12cd/mcp"},
		{
			"MIIEvQIBADANBgkqhkiG", "PRIVATE_KEY",
			"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG\\n-----END PRIVATE KEY-----\\n",
		},
	} {
		if got := mask.Setting(c[1], c[2]); !slices.Contains(got, c[0]) {
			t.Errorf("%s=%s: %q", c[1], c[2], got)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	missed := 0
	for range 1000 {
		token := make([]byte, 24)
		for i := range token {
			token[i] = letters[r.IntN(len(letters))]
		}
		if len(mask.Setting("X", string(token))) == 0 {
			missed++
		}
	}
	if missed > 20 {
		t.Errorf("%d of 1000 random tokens are not known as such", missed)
	}
}

// What only stands where secrets do is shown.
func TestASettingIsNoSecretByItsPlace(t *testing.T) {
	for _, c := range [][2]string{
		{"JIRA_URL", "https://acme.example.net/browse/PLATFORM-7"}, {"JIRA_USERNAME", "ops@example.com"},
		{"JIRA_PROJECTS_FILTER", "PLATFORM"}, {"X-Env", "production"},
		{"PROJECT_KEY", "PLATFORM"}, {"SSH_PUBLIC_KEY", "ops"}, {"MAX_TOKENS", "40960"}, {"USE_TOKEN", "true"},
		{"API_KEY", "-"}, {"TOKEN_URL", "https://login.example/oauth/token"},
		{"ACCOUNT_ID", "9f86d081884c7d659a2feaa0c55ad015"}, {"TENANT", "550e8400-e29b-41d4-a716-446655440000"},
		{"HOST", "prod-db-01.eu-west-1.rds.amazonaws.com"}, {"MODEL", "claude-3-5-sonnet-20241022"},
		{"MODEL", "Qwen2.5-72B-Instruct-GPTQ-Int4"}, {"SINCE", "20240115T100000Z"},
		{"WORKSPACE", "MyTeamWorkspace2024Production"}, {"PATH", "/usr/local/lib/node_modules/server-x64/bin"},
		{"PLAN", "Basic services"}, {"KEYBOARD", "german"}, {"MONKEY", "bonobo"}, {"AUTHOR", "somebody"},
		{"COMPASS_DIR", "northwest"}, {"DATABASE", "postgres://app@db.example:5432/app?sslmode=require"},
		{"NODE_OPTIONS", "--max-old-space-size 4096"},
		{"AIRTABLE_BASE", "appLkNDICXNqxSDhG"}, {"STRIPE_ACCOUNT", "acct_1032D82eZvKYlo2C"},
		{"NOTION_DATABASE", "1429989fe8ac4effbc8f57f56486db54"}, {"NODES", "web01-prod02-db03-cache04"},
		{"DATABASE_URL", "postgres://postgres:postgres@db:5432/postgres"}, {"AUTH", "required"}, {"MCP_AUTH", "OAuth"},
		{"FILTER", "a=b&status=open"}, {"URL", "https://mcp.example.net/eu-west-1/mcp/v2beta1"},
		{"X-Accept", "application/json, text/event-stream"}, {"", ""}, {"TOKEN", ""},
	} {
		if got := mask.Setting(c[0], c[1]); len(got) > 0 {
			t.Errorf("%s=%s: %q", c[0], c[1], got)
		}
	}
}

var escapes = regexp.MustCompile("%..")

// A secret is hidden as programs write it, too, and nothing of another one is left where they overlap.
func TestLaw8_ASecretIsHiddenHoweverItIsEncoded(t *testing.T) {
	for _, secret := range []string{"hunter2-and-more", `a"b\c/d&e<f>é+g h=`, "Kq7ZxWb2nMtRpLs4DfGh"} {
		inJSON, _ := json.Marshal(map[string]string{"a": secret})
		twice, _ := json.Marshal(string(inJSON))
		for name, text := range map[string]string{
			"as it is": secret, "JSON": string(inJSON), "JSON in JSON": string(twice),
			"PHP": strings.ReplaceAll(string(inJSON), "/", `\/`), "ASCII": strconv.QuoteToASCII(secret),
			"a query": url.QueryEscape(secret), "a path": url.PathEscape(secret),
			"lower case": escapes.ReplaceAllStringFunc(url.QueryEscape(secret), strings.ToLower),
			"HTML":       html.EscapeString(secret),
			"hex":        hex.EncodeToString([]byte(secret)),
			"base64":     base64.StdEncoding.EncodeToString([]byte(secret)),
			"base64url":  base64.RawURLEncoding.EncodeToString([]byte(secret)),
			"1 before":   base64.StdEncoding.EncodeToString([]byte("x" + secret + "tail")),
			"user":       base64.StdEncoding.EncodeToString([]byte("me:" + secret)),
			"5 before":   base64.URLEncoding.EncodeToString([]byte("user:" + secret + "?")),
		} {
			got := mask.Without("see "+text+" there", []string{secret})
			if !strings.Contains(got, mask.Mark) || len(got) > len("see  there")+len(mask.Mark)+24 ||
				strings.Contains(got, text) {
				t.Errorf("%s: %q is shown as %q", name, text, got)
			}
		}
	}
	for text, want := range map[string]string{
		"x abcdefgh y":           "x " + mask.Mark + " y", // of two secrets
		"abcdef, cdefgh, abcd":   mask.Mark + ", " + mask.Mark + ", abcd",
		"abcdefabcdef":           mask.Mark + mask.Mark,
		"":                       "",
		"the latest test":        "the latest " + mask.Mark,
		`{"pin":1234,"n":51234}`: `{"pin":` + mask.Mark + `,"n":51234}`,
	} {
		if got := mask.Without(text, []string{"abcdef", "cdefgh", "abcdefgh-longer", "test", "1234"}); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// What is no secret in a cookie is no word that is hidden everywhere.
func TestACookieHidesNoPlainWord(t *testing.T) {
	got := mask.Setting("Cookie", "env=production; lang=en_US; session=correct-horse; token=main7")
	if slices.Contains(got, "production") || slices.Contains(got, "en_US") || !slices.Contains(got, "correct-horse") ||
		!slices.Contains(got, "main7") {
		t.Errorf("hidden are %q", got)
	}
}

// What is looked for is found once, not for every text.
func TestHidingLooksForSecretsWithoutMakingTheirFormsAgain(t *testing.T) {
	h := mask.NewHiding([]string{"a/secret & more", "hunter2-and-more"})
	if n := testing.AllocsPerRun(10, func() { h.In("what a server says") }); n > 5 {
		t.Errorf("a text takes %v allocations", n)
	}
}
