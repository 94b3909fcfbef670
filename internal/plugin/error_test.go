package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

type broken struct{ method string }

func (b *broken) panicIn(method string) {
	if b.method == method {
		panic("boom")
	}
}

func (b *broken) Error() string   { b.panicIn("Error"); return "broken" }
func (b *broken) Is(error) bool   { b.panicIn("Is"); return false }
func (b *broken) As(any) bool     { b.panicIn("As"); return false }
func (b *broken) Unwrap() []error { b.panicIn("Unwrap"); return nil }

type loop struct{}

func (l loop) Error() string { return "loop" }
func (l loop) Unwrap() error { return l }

type bush struct{}

func (b bush) Error() string   { return "bush" }
func (b bush) Unwrap() []error { return []error{b, b} }

func TestSound(t *testing.T) {
	t.Run("O54", func(t *testing.T) {
		for name, err := range map[string]error{
			"typed-nil": (*broken)(nil), "Error": &broken{"Error"}, "Is": &broken{"Is"}, "As": &broken{"As"}, "Unwrap": &broken{"Unwrap"}, "loop": loop{}, "bush": bush{},
		} {
			t.Run("reject-"+name, func(t *testing.T) {
				for _, err := range []error{err, fmt.Errorf("below: %w", err), errors.Join(fs.ErrNotExist, err)} {
					if sound := Sound(err); !errors.Is(sound, ErrUnsound) {
						t.Errorf("%T passes", err)
					}
				}
			})
		}
		for name, err := range map[string]error{"nil": nil, "plain": errors.New("x"), "sentinel": fs.ErrNotExist, "tree": errors.Join(fs.ErrNotExist, &broken{}), "empty-joined": fmt.Errorf("a: %w, %w", fs.ErrExist, fs.ErrClosed)} {
			t.Run("accept-"+name, func(t *testing.T) {
				if sound := Sound(err); sound != err {
					t.Errorf("got %v", sound)
				}
			})
		}
	})
}
