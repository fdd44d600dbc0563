package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

const (
	fileName = "leaderboard.resp"
	lockName = "leaderboard.lock"
)

// folder is where a snapshot is kept. One process holds it at a time.
type folder struct {
	path string
	lock *flock.Flock
}

// openFolder makes the folder where it is missing, and takes it for this process.
func openFolder(path string) (*folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	f := &folder{path: path, lock: flock.New(filepath.Join(path, lockName), flock.SetPermissions(0o600))}
	held, err := f.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.lock.Path(), err)
	}
	if !held {
		return nil, fmt.Errorf("the folder %s is in use by another process, which holds %s: stop that one, "+
			"or give this one a folder of its own", path, f.lock.Path())
	}
	return f, nil
}

func (f *folder) file() string { return filepath.Join(f.path, fileName) }

// read returns the snapshot, or nothing when there never was one.
func (f *folder) read() ([]byte, error) {
	snapshot, err := os.ReadFile(f.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return snapshot, err
}

// write puts a new snapshot in the place of the old one. Whenever the machine stops, one of the two is there, whole.
func (f *folder) write(snapshot []byte) error {
	aside := f.file() + ".new"
	if err := writeSynced(aside, snapshot); err != nil {
		return err
	}
	if err := os.Rename(aside, f.file()); err != nil {
		return err
	}
	return syncFolder(f.path)
}

func writeSynced(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// syncFolder makes a rename outlast a power cut.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // cannot, and keeps the order of such changes by itself
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// close lets another process have the folder.
func (f *folder) close() error { return f.lock.Unlock() }
