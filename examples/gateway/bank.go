package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"time"

	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/lookleaptest"
)

// bank is an AI endpoint with a document and keys, on an internet of its own.
type bank struct {
	net      *lookleaptest.Internet
	endpoint aiuri.URI
	ring     *aiuri.KeyRing
}

func openBank() (*bank, error) {
	b := &bank{net: lookleaptest.NewInternet()}
	if err := b.publish(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bank) close() { b.net.Close() }

func (b *bank) publish() (err error) {
	if b.endpoint, err = aiuri.Parse("ai://bank.example/"); err != nil {
		return err
	}
	key, err := newKey("2026-01")
	if err != nil {
		return err
	}
	if b.ring, err = aiuri.NewKeyRing(key, aiuri.KeyRingOptions{}); err != nil {
		return err
	}
	document, err := aiuri.NewDescriptorHandler("https://bank.example", &aiuri.Descriptor{
		Endpoint: b.endpoint, JWKS: "https://bank.example/keys", Scopes: []string{"initiate-payment", "check-balance"},
		Policy: aiuri.EndpointPolicy{Auth: aiuri.AuthOAuth2, RequireSignedResults: true},
	})
	if err != nil {
		return err
	}
	b.net.Site("bank.example").Handle("/.well-known/aiip", document).Handle("/keys", aiuri.NewKeyRingHandler(b.ring))
	return nil
}

func newKey(id string) (aiuri.SigningKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return aiuri.SigningKey{ID: id, Private: private}, err
}

// scopes says what a call needs.
func scopes(_ string, u aiuri.URI) []string {
	if u.Path() == "/balance" {
		return []string{"check-balance"}
	}
	return []string{"initiate-payment"}
}

// Invoke is how the gateway reaches the bank. Some paths show what goes wrong.
func (b *bank) Invoke(ctx context.Context, c *aiuri.Call) (aiuri.SignedResult, error) {
	key, answer := b.ring.Current(), `{"paid":true}`
	switch c.URI.Path() {
	case "/payments":
	case "/balance":
		answer = `{"balance":"42.00"}`
	case "/forged": // by an attacker who knows the key's name
		var err error
		if key, err = newKey(key.ID); err != nil {
			return aiuri.SignedResult{}, err
		}
	case "/unsigned":
		return aiuri.SignedResult{Body: []byte(answer), MediaType: "application/json"}, nil
	case "/slow":
		<-ctx.Done()
		return aiuri.SignedResult{}, ctx.Err()
	default:
		return aiuri.SignedResult{}, errors.New("the bank does not know this path")
	}
	now := b.net.Clock().Now()
	claims := &aiuri.Claims{Issuer: b.endpoint.String(), Issued: now, Expires: now.Add(time.Hour), Request: aiuri.RequestDigest(c)}
	result, err := aiuri.SignResult([]byte(answer), key, aiuri.SignOptions{Claims: claims, Detached: true})
	result.MediaType = "application/json"
	return result, err
}
