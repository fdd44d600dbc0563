package embedded

import (
	"maps"
	"slices"
	"sync"
)

// uniques remembers what was added to each HyperLogLog. miniredis hands out no registers, and those of Redis are
// counted otherwise: a snapshot can only say who was added. That is some ten thousand players for each such key, as
// long as the key lives.
type uniques struct {
	mu    sync.Mutex
	added map[string]*unique
}

type unique struct {
	elements map[string]struct{}
	missed   bool // the key was not there at the last look
}

// watch looks at a command that may change a HyperLogLog.
func (u *uniques) watch(command string, args []string) {
	if len(args) == 0 {
		return
	}
	switch command {
	case "PFADD":
		u.mu.Lock()
		defer u.mu.Unlock()
		of := u.of(args[0])
		for _, element := range args[1:] {
			of.elements[element] = struct{}{}
		}
	case "PFMERGE":
		u.mu.Lock()
		defer u.mu.Unlock()
		of := u.of(args[0])
		for _, source := range args[1:] {
			if from, ok := u.added[source]; ok {
				maps.Copy(of.elements, from.elements)
			}
		}
	case "DEL", "UNLINK":
		u.mu.Lock()
		defer u.mu.Unlock()
		for _, key := range args {
			delete(u.added, key)
		}
	}
}

// of returns what was added to a key that is about to be there. The caller holds the lock.
func (u *uniques) of(key string) *unique {
	of, ok := u.added[key]
	if !ok {
		of = &unique{elements: make(map[string]struct{})}
		u.added[key] = of
	}
	of.missed = false
	return of
}

// elements returns what was added to a key, sorted.
func (u *uniques) elements(key string) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	if of, ok := u.added[key]; ok {
		return slices.Sorted(maps.Keys(of.elements))
	}
	return nil
}

// forget drops what is neither there now nor was at the last look: once is not enough, as a command is seen here
// before it is done.
func (u *uniques) forget(there func(key string) bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for key, of := range u.added {
		absent := !there(key)
		if absent && of.missed {
			delete(u.added, key)
		}
		of.missed = absent
	}
}
