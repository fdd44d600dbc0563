package redisconn

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// LogTo sends what the Redis client has to say to log. The client knows one logger for the whole process.
func LogTo(log *slog.Logger) { redis.SetLogger(clientLog{log}) }

type clientLog struct{ log *slog.Logger }

// Printf is how the client logs: trouble with connections, mostly.
func (l clientLog) Printf(ctx context.Context, format string, values ...any) {
	l.log.WarnContext(ctx, "redis client", "says", fmt.Sprintf(format, values...))
}
