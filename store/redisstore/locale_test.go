package redisstore_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"leaderboard/store/storetest"
)

// Redis takes the order in which Lua compares texts from its environment, and Debian hands it the machine's language.
func TestStoreOnARedisOfAnyLanguageKeepsTheContract(t *testing.T) {
	folder := t.TempDir()
	make := exec.Command("localedef", "-i", "en_US", "-f", "UTF-8", filepath.Join(folder, "en_US.UTF-8"))
	if out, err := make.CombinedOutput(); err != nil {
		t.Skipf("no language can be made here: %v: %s", err, out)
	}
	t.Setenv("LOCPATH", folder)
	t.Setenv("LC_ALL", "en_US.UTF-8")
	server := storetest.Server(t)
	const larger = "return tostring('B' > 'a')"
	if got, err := server.Client(t).Eval(t.Context(), larger, nil).Text(); err != nil || got != "true" {
		t.Fatalf("got %q, %v: this Redis does not speak English", got, err)
	}
	storetest.Suite{Open: open(server.Client), Many: 300, Only: "reads"}.Run(t)
}
