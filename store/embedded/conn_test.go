package embedded

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// The client writes all of a pipeline before it reads a reply.
func TestALongPipelineGoesThrough(t *testing.T) {
	t.Parallel()
	client := begin(t).Client()
	value := strings.Repeat("x", 1000)
	replies, err := client.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		for range 2000 {
			pipe.Set(t.Context(), "k", value, 0)
			pipe.Get(t.Context(), "k")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := replies[len(replies)-1].(*redis.StringCmd).Val(); got != value {
		t.Errorf("got %.20q, want %.20q", got, value)
	}
}

func TestASubscriberThatDoesNotReadStopsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		slow := s.Client().Subscribe(t.Context(), "news")
		defer slow.Close()
		if _, err := slow.Receive(t.Context()); err != nil { // the confirmation; nothing is read from here on
			t.Fatal(err)
		}
		for range 1000 {
			if err := s.Client().Publish(t.Context(), "news", "item").Err(); err != nil {
				t.Fatal(err)
			}
		}
		for range 1000 {
			if _, err := slow.ReceiveMessage(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestASubscriberIsCutOffWhenTooMuchWaitsForIt(t *testing.T) {
	t.Parallel()
	client, end := pipe()
	defer client.Close()
	defer end.Close()
	big := make([]byte, maxPending/4)
	const writes = 20 // what is being written when the first ones wait does not count: twice the bound is enough for sure
	for range writes {
		if _, err := end.Write(big); err != nil {
			if err != errSlowReader {
				t.Errorf("got %v, want %v", err, errSlowReader)
			}
			return
		}
	}
	t.Errorf("%d bytes wait for a client that does not read", writes*len(big))
}

func TestBlockingCommandsWaitOnTheClockOfABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t)
		start := time.Now()
		if err := s.Client().BLMove(t.Context(), "from", "to", "LEFT", "RIGHT", 2*time.Second).Err(); err != redis.Nil {
			t.Errorf("got %v, want %v", err, redis.Nil)
		}
		if got := time.Since(start); got != 2*time.Second {
			t.Errorf("it waited %v, want 2s", got)
		}
	})
}
