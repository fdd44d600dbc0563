package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// inspection is a look at one Redis server before scores are trusted to it.
type inspection struct {
	server redis.Cmdable
	log    *slog.Logger
	facts  map[string]string // what INFO tells; empty where that is not permitted
}

// inspect refuses a server that cannot do the work, and warns in log about one that may lose scores.
func inspect(ctx context.Context, server redis.Cmdable, log *slog.Logger) error {
	i := inspection{server: server, log: log, facts: make(map[string]string)}
	for _, step := range []func(context.Context) error{i.loaded, i.ask, i.version, i.eviction, i.disk} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if i.facts["role"] == "slave" {
		log.Warn("this Redis is a replica: it refuses every score until it becomes the master")
	}
	log.Info("scores are kept in Redis", "version", i.facts["redis_version"])
	return nil
}

// loaded waits while a server that was just started reads its files.
func (i *inspection) loaded(ctx context.Context) error {
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		err := i.server.Ping(ctx).Err()
		if !redis.IsLoadingError(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-poll.C:
		}
	}
}

func (i *inspection) ask(ctx context.Context) error {
	text, err := i.server.Info(ctx).Result()
	if err != nil && !refused(err) {
		return err
	}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			i.facts[name] = value
		}
	}
	return nil
}

func (i *inspection) version(context.Context) error {
	version, known := i.facts["redis_version"]
	if !known {
		i.log.Warn("could not check the version of this Redis: it must be 6.2 or newer")
	} else if older(version) {
		return fmt.Errorf("this is Redis %s, which is too old: 6.2 or newer is needed", version)
	}
	return nil
}

// eviction warns when Redis may throw keys away to save memory: a board's, or a reward's.
func (i *inspection) eviction(ctx context.Context) error {
	policy, known := i.facts["maxmemory_policy"]
	if !known {
		var err error
		if policy, known, err = i.setting(ctx, "maxmemory-policy"); err != nil {
			return err
		}
	}
	switch {
	case !known:
		i.log.Warn("could not check whether this Redis drops keys when memory is full: maxmemory-policy must be noeviction")
	case policy != "noeviction":
		i.log.Warn("this Redis drops keys when memory is full, and scores with them: set maxmemory-policy to noeviction",
			"maxmemory-policy", policy)
	}
	return nil
}

// disk warns when a restart of Redis would lose everything.
func (i *inspection) disk(ctx context.Context) error {
	if i.facts["aof_enabled"] == "1" {
		return nil
	}
	appendOnly, knownAppendOnly, err := i.setting(ctx, "appendonly")
	if err != nil {
		return err
	}
	save, knownSave, err := i.setting(ctx, "save")
	switch {
	case err != nil:
		return err
	case appendOnly == "yes" || save != "":
	case knownAppendOnly && knownSave:
		i.log.Warn("this Redis writes nothing to disk: its restart loses every score; set appendonly to yes")
	default:
		i.log.Warn("could not check whether this Redis writes to disk: without appendonly or save its restart loses every score")
	}
	return nil
}

// setting returns a setting of the server, and whether it tells: a managed Redis often does not.
func (i *inspection) setting(ctx context.Context, name string) (value string, known bool, err error) {
	values, err := i.server.ConfigGet(ctx, name).Result()
	if err != nil && !refused(err) {
		return "", false, err
	}
	value, known = values[name]
	return value, known, nil
}

// refused reports whether the server will not do what was asked, and goes on to do other things.
func refused(err error) bool {
	_, answered := errors.AsType[redis.Error](err)
	return answered && !redis.HasErrorPrefix(err, "NOAUTH")
}

// older reports whether a version is before 6.2. One that cannot be read is taken to be new: programs that speak like
// Redis under a numbering of their own are younger than that.
func older(version string) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, err := strconv.Atoi(first)
	if err != nil {
		return false
	}
	minor, _ := strconv.Atoi(second)
	return major < 6 || major == 6 && minor < 2
}
