package login

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"golang.org/x/oauth2"

	"gatehouse/core"
)

// Client is what the entry of a server says about its login: "oauth".
type Client struct {
	ID, Secret string   // of a client that was registered by hand; "": it registers itself
	Scopes     []string // to ask for; none: those that the server names
}

// Server is what a login needs to know of a server's entry.
type Server struct {
	Name, URL string
	Headers   map[string]string
	Client    Client
	Known     bool // the entry has "oauth"
}

// Store keeps logins for all processes.
type Store interface {
	Get(ctx context.Context, name string) (string, error)
	Put(ctx context.Context, name, value string) error
	AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (bool, error)
	Signer() *core.Signer
	DatabaseKey(ctx context.Context) (string, error)
}

// Record is a login.
type Record struct {
	URL          string // of the server; no other gets the token
	Resource     string // what the authorization server calls the server
	TokenURL     string
	ClientID     string
	ClientSecret string // of a client that registered itself
	Style        oauth2.AuthStyle
	Token        oauth2.Token // without an access token: it was refused
	Refused      string       // why
	Forced       time.Time    // when the server's refusal had it renewed last
}

// nameOf is what the login of a server is stored under, and the lease of those who write it.
func nameOf(server string) string { return "mcp.login/" + server }

// keysOf gives the keys that encrypt logins, made from those of a signer.
func keysOf(s *core.Signer) [][]byte { return s.Derived("logins to MCP servers") }

// seal encrypts a login for a server.
func seal(key []byte, server string, r Record) (string, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	aead, err := newAEAD(key)
	if err != nil {
		return "", err
	}
	return base64.RawStdEncoding.EncodeToString(aead.Seal(nil, nil, text, []byte(nameOf(server)))), nil
}

// errSealed is the error of a login that no key opens.
var errSealed = errors.New("the login is encrypted under a secret key that gatehouse does not have")

// unseal decrypts a login of a server, and says which of the keys opened it.
func unseal(keys [][]byte, server, text string) (r Record, key int, err error) {
	sealed, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return Record{}, 0, errSealed
	}
	for i, key := range keys {
		aead, err := newAEAD(key)
		if err != nil {
			return Record{}, 0, err
		}
		if plain, err := aead.Open(nil, nil, sealed, []byte(nameOf(server))); err == nil {
			return r, i, json.Unmarshal(plain, &r)
		}
	}
	return Record{}, 0, errSealed
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// save stores a login. Its writer holds the lease.
func save(ctx context.Context, store Store, server string, r Record) (text string, err error) {
	if text, err = seal(keysOf(store.Signer())[0], server, r); err != nil {
		return "", err
	}
	return text, store.Put(ctx, nameOf(server), text)
}

const (
	leaseTime = time.Minute            // of one who writes a login
	leaseWait = 100 * time.Millisecond // between two attempts to get it
)

// hold runs do while no other owner writes the login of a server.
func hold(ctx context.Context, store Store, server, owner string, do func() error) error {
	for {
		mine, err := store.AcquireLease(ctx, nameOf(server), owner, leaseTime)
		if err != nil {
			return err
		}
		if mine {
			break
		}
		select {
		case <-time.After(leaseWait):
		case <-ctx.Done():
			return errors.New("another process writes the login")
		}
	}
	defer func() {
		_, _ = store.AcquireLease(context.WithoutCancel(ctx), nameOf(server), owner, 0) // it ends by itself
	}()
	return do()
}
