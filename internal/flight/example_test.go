package flight_test

import (
	"context"
	"fmt"
	"time"

	"github.com/lookleap/lookleap/internal/flight"
)

func ExampleMemo() {
	memo := flight.NewMemo[string, int](100, time.Now)
	load := func(context.Context) (flight.Loaded[int], error) {
		fmt.Println("loading")
		return flight.Loaded[int]{Value: 7, Until: time.Now().Add(time.Minute)}, nil
	}
	for range 2 {
		value, err := memo.Get(context.Background(), "question", load)
		fmt.Println(value, err)
	}
	memo.Invalidate("question")
	value, err := memo.Get(context.Background(), "question", load)
	fmt.Println(value, err)
	// Output:
	// loading
	// 7 <nil>
	// 7 <nil>
	// loading
	// 7 <nil>
}
