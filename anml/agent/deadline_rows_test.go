package agent

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/lookleap/lookleap"
)

// countdown is a context that ends after some questions about it.
type countdown struct {
	context.Context
	left, late int // questions before the end, and after it
}

func (c *countdown) Err() error {
	if c.left > 0 {
		c.left--
		return nil
	}
	c.late++
	return context.DeadlineExceeded
}

// TestWorkEndsWithTheCaller: comparing arguments with the profile ends when the caller's time is over.
func TestWorkEndsWithTheCaller(t *testing.T) {
	t.Run("P27", func(t *testing.T) {
		data := new(profileValues)
		for i := range 200 {
			value := fmt.Sprintf("value number %d of the profile", i)
			data.values = append(data.values, profileValue{fmt.Sprint("field", i), fold(value).text})
		}
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("nothing of it 12 ", 1000)))
		work := map[string]func(context.Context){
			"whole":   func(ctx context.Context) { data.fieldsIn(ctx, "", text) },
			"divided": func(ctx context.Context) { data.divided(ctx, []string{text, text + "1", "2"}) },
		}
		for name, run := range work {
			t.Run("reject-work-after-the-end-"+name, func(t *testing.T) {
				whole := &countdown{Context: t.Context(), left: 1 << 30}
				run(whole)
				asked := 1<<30 - whole.left
				if asked < 200 {
					t.Fatalf("the work asks %d times whether to go on", asked)
				}
				for _, left := range []int{0, 1, asked / 2, asked - 1} {
					cut := &countdown{Context: t.Context(), left: left}
					run(cut)
					if cut.late == 0 || cut.late > 2 { // of the text and of its reading
						t.Errorf("after the end the work asks %d more times", cut.late)
					}
				}
			})
		}
		t.Run("reject-call-of-a-caller-who-left", func(t *testing.T) {
			s := newStage(t, setting{doc: `<head><title>S</title></head><interact><action id="go" method="POST" endpoint="/go"><param name="a"/></action></interact>`})
			ctx, leave := context.WithCancel(t.Context())
			leave()
			if _, err := s.page.Do(ctx, Call{Action: "go", Args: map[string]string{"a": text}}); lookleap.CodeOf(err) != lookleap.CodeCancelled {
				t.Error(err)
			}
			s.sends()
		})
	})
}
