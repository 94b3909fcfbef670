package kit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/lookleap/lookleap"
)

// Question is one line that a runner writes to a program.
type Question struct {
	ID        string          `json:"id"`
	Operation string          `json:"operation"`
	Input     json.RawMessage `json:"input"`
}

// Answer is one line that a program writes back.
type Answer struct {
	ID      string         `json:"id"`
	Class   string         `json:"class"`
	Outcome map[string]any `json:"outcome,omitempty"`
	Error   string         `json:"error,omitempty"` // why there is no answer; for people
}

// maxLine bounds a line of the protocol, in bytes.
const maxLine = 16 << 20

// operation decides an input. It returns an error for what is refused.
type operation func(ctx context.Context, input json.RawMessage) (map[string]any, error)

// Serve answers questions with this module until the input ends.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return serve(ctx, operations, in, out)
}

func serve(ctx context.Context, operations map[string]operation, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var q Question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return fmt.Errorf("a question is not JSON: %w", err)
		}
		line, err := json.Marshal(answer(ctx, operations, q))
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

func answer(ctx context.Context, operations map[string]operation, q Question) Answer {
	decide := operations[q.Operation]
	if decide == nil {
		return Answer{ID: q.ID, Class: Unsupported}
	}
	outcome, err := decide(ctx, q.Input)
	if err == nil {
		return Answer{ID: q.ID, Class: Accept, Outcome: outcome}
	}
	if outcome == nil {
		outcome = map[string]any{}
	}
	outcome["reason"] = lookleap.CodeOf(err)
	if bad := (*lookleap.Error)(nil); errors.As(err, &bad) {
		if outcome["line"] == nil {
			outcome["line"] = bad.Position.Line
		}
		outcome["offset"] = bad.Position.Offset
	}
	return Answer{ID: q.ID, Class: Reject, Outcome: outcome}
}

// typed makes an operation of a function with a typed input.
func typed[T any](decide func(ctx context.Context, input T) (map[string]any, error)) operation {
	return func(ctx context.Context, data json.RawMessage) (map[string]any, error) {
		var input T
		if err := json.Unmarshal(data, &input); err != nil {
			return nil, err
		}
		return decide(ctx, input)
	}
}

// refused is a refusal that is not an error of the package.
func refused(code lookleap.Code) error { return &lookleap.Error{Code: code} }
