package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// request is what a server of the chat completions API receives.
type request struct {
	Model    string
	Messages []struct {
		Role       string
		Content    string
		ToolCallID string `json:"tool_call_id"`
		ToolCalls  []struct {
			ID, Type string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	Tools []struct {
		Type     string
		Function struct {
			Name, Description string
			Parameters        map[string]any
		}
	}
}

// serve runs a server whose model calls one tool a turn, named by the end of its name, then
// ends. It returns its URL and the requests that it receives.
func serve(t *testing.T, turns ...[2]string) (string, *[]request) {
	var got []request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req request
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.Method != "POST" || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		turn := len(got)
		got = append(got, req)
		if turn >= len(turns) {
			fmt.Fprint(w, `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"Done.\u001b[2J"}}]}`)
			return
		}
		name := turns[turn][0]
		for _, tool := range req.Tools {
			if strings.HasSuffix(tool.Function.Name, name) {
				name = tool.Function.Name
			}
		}
		args, _ := json.Marshal(turns[turn][1])
		fmt.Fprintf(w, `{"id":"x","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[
			{"id":"id-%d","type":"function","function":{"name":%q,"arguments":%s}}]}}]}`, turn, name, args)
	}))
	t.Cleanup(server.Close)
	t.Setenv(keyVariable, "secret")
	return server.URL + "/v1", &got
}

// result returns the result of the call of a turn, as the model reads it.
func result(t *testing.T, got []request, turn int) map[string]any {
	t.Helper()
	messages := got[turn+1].Messages
	last, calls := messages[len(messages)-1], messages[len(messages)-2].ToolCalls
	var data map[string]any
	if err := json.Unmarshal([]byte(last.Content), &data); err != nil {
		t.Fatal(err)
	}
	if last.Role != "tool" || last.ToolCallID != fmt.Sprintf("id-%d", turn) || len(calls) != 1 || calls[0].ID != last.ToolCallID || calls[0].Type != "function" {
		t.Errorf("%+v does not belong to the call %+v", last, calls)
	}
	return data
}

// TestChat books with a model behind a server.
func TestChat(t *testing.T) {
	url, got := serve(t, [2]string{"load_skill", `{"name":"book-a-ferry"}`}, [2]string{"open_site", ``},
		[2]string{"search", `{"from":"harbour","to":"island"}`}, [2]string{"reserve", `{"trip":"t2","seats":2}`},
		[2]string{"pay", `{}`}, [2]string{"confirm", `{}`})
	out := play(t, strings.Repeat("y\n", 6), "--model-url", url, "--model", "m-1", "Book!")
	if !strings.Contains(out, "assistant: Done.[2J\n") || !strings.Contains(out, "disclosed email") || len(*got) != 7 {
		t.Fatalf("%d requests\n%s", len(*got), out)
	}
	first := (*got)[0]
	if first.Model != "m-1" || first.Messages[0].Role != "system" || !strings.Contains(first.Messages[0].Content, "book-a-ferry") || first.Messages[1].Content != "Book!" {
		t.Errorf("%+v", first)
	}
	if len(first.Tools) != 2 || first.Tools[0].Type != "function" || first.Tools[0].Function.Parameters["type"] != "object" {
		t.Errorf("%+v", first.Tools)
	}
	if skill := result(t, *got, 0); !strings.Contains(fmt.Sprint(skill["instructions"]), "# Book a ferry") || skill["publisher"] != "https://ferries.example/" {
		t.Error(skill)
	}
	if found := result(t, *got, 2); found["do"] != nil || !strings.Contains(fmt.Sprint(found["content"]), "t2") {
		t.Error(found)
	}
	if done := result(t, *got, 5); done["outcome"] != "success" || !strings.Contains(fmt.Sprint(done["content"]), "The trip is booked.") {
		t.Error(done)
	}
}

// TestChatFailures checks that a model learns what it can do after a failed call.
func TestChatFailures(t *testing.T) {
	url, got := serve(t, [2]string{"open_site", `{}`}, [2]string{"search", `{"from":"harbour","to":"moon"}`}, [2]string{"fly", `{}`},
		[2]string{"load_skill", `{"name":"other"}`}, [2]string{"search", `no JSON`}, [2]string{"search", `{"from":"harbour","to":"island"}`},
		[2]string{"reserve", `{"trip":"t2","seats":2}`}, [2]string{"search", `{"from":"island","to":"harbour"}`})
	out := play(t, "n\n", "--model-url", url, "--model", "m")
	for i, want := range map[int][2]string{
		1: {"param-invalid", "fix-arguments"}, 2: {"unknown-tool", "fix-arguments"}, 3: {"unknown-skill", "fix-arguments"},
		4: {"param-invalid", "fix-arguments"}, 6: {"consent-refused", "stop"},
	} {
		t.Run(fmt.Sprintf("reject-%d-%s", i, want[0]), func(t *testing.T) {
			data := result(t, *got, i)
			if data["code"] != want[0] || data["do"] != want[1] || data["error"] == "" {
				t.Errorf("%v\n%s", data, out)
			}
		})
	}
	// After the refusal the page and its tools are still there.
	if data := result(t, *got, 7); data["do"] != nil || !strings.Contains(out, "assistant: Done.") {
		t.Errorf("%v\n%s", data, out)
	}
}

// TestChatErrors has servers that do not answer as the API does.
func TestChatErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		body, want string
	}{
		"reject-status":    {http.StatusUnauthorized, `{"error":"wrong key"}`, "wrong key"},
		"reject-redirect":  {http.StatusTemporaryRedirect, ``, "307"},
		"reject-no-choice": {http.StatusOK, `{"choices":[]}`, "no choice"},
		"reject-no-json":   {http.StatusOK, `<html>`, "invalid character"},
		"reject-endless": {http.StatusOK, `{"choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"x"}}]}}]}`,
			"did not finish"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			defer server.Close()
			err := run(context.Background(), []string{"--model-url", server.URL, "--model", "m"}, strings.NewReader(""), &strings.Builder{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	for base, ok := range map[string]bool{
		"https://models.example.com/v1": true, "http://127.0.0.1:8080/v1": true, "http://localhost:8080": true, "http://[::1]:80/": true,
		"http://models.example.com/v1": false, "http://192.0.2.1": false, "models.example.com": false, "ftp://models.example.com": false,
	} {
		if _, err := newChat(base, "m", "key"); (err == nil) != ok {
			t.Errorf("%s: %v", base, err)
		}
	}
	if _, err := newChat("http://192.0.2.1", "m", ""); err != nil {
		t.Errorf("without a key there is nothing to protect: %v", err)
	}
	if printable("a\x1b\u202eb\nc") != "ab\nc" {
		t.Error("control characters are printed")
	}
}
