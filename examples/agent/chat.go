package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// message is a message of the chat completions API.
type message struct {
	Role       string     `json:"role"` // system, user, assistant or tool
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"` // of a result
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // function
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // JSON in a string
	} `json:"function"`
}

// chat is a model behind the chat completions API, which most vendors and local servers offer.
type chat struct {
	url, model, key string
	client          *http.Client
}

// maxResponse is the largest response of the API in bytes.
const maxResponse = 8 << 20

// newChat returns the model at a URL such as https://models.example.com/v1. The user chose that
// URL, and it may be on this machine, so the guard of the Host against private addresses is not
// for it.
func newChat(base, model, key string) (*chat, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("--model-url %q is not an https or http URL", base)
	}
	if ip, _ := netip.ParseAddr(u.Hostname()); key != "" && u.Scheme == "http" && u.Hostname() != "localhost" && !ip.IsLoopback() {
		return nil, fmt.Errorf("the key in %s would be sent to %s without encryption; use https, or unset the key", keyVariable, u.Host)
	}
	return &chat{url: u.JoinPath("chat", "completions").String(), model: model, key: key, client: &http.Client{
		Timeout:       5 * time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func (c *chat) next(ctx context.Context, conversation []message, tools []tool) (message, error) {
	type function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  map[string]any `json:"parameters"`
		Strict      bool           `json:"strict,omitempty"`
	}
	type offered struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	request := struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
		Tools    []offered `json:"tools"`
	}{Model: c.model, Messages: conversation}
	for _, t := range tools {
		request.Tools = append(request.Tools, offered{"function", function{t.Name, t.Description, t.Parameters, t.Strict}})
	}
	var response struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	if err := c.post(ctx, request, &response); err != nil {
		return message{}, fmt.Errorf("%s: %w", c.url, err)
	}
	if len(response.Choices) == 0 {
		return message{}, fmt.Errorf("%s: the response has no choice; check that --model supports tools", c.url)
	}
	reply := response.Choices[0].Message
	reply.Role = "assistant" // some servers leave out role and type, but require them in the next request
	for i := range reply.ToolCalls {
		reply.ToolCalls[i].Type = "function"
	}
	return reply, nil
}

func (c *chat) post(ctx context.Context, request, response any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("unexpected HTTP status %s: %.500s", resp.Status, printable(string(data)))
	}
	return json.Unmarshal(data, response)
}
