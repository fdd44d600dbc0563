package embedded

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// a small snapshot, in which a name spells how a snapshot ends
func sample(t testing.TB) []byte {
	t.Helper()
	records := []record{
		{key: "s", kind: "string", reply: "$4\r\na\r\nb\r\n"},
		{key: "z", kind: "zset", reply: "*4\r\n$1\r\nm\r\n$16\r\n9007199254740991\r\n$2\r\nm2\r\n$3\r\n1.5\r\n"},
		{key: "h", kind: "hash", reply: fmt.Sprintf("*2\r\n$1\r\nf\r\n$%d\r\n%s\r\n", len(trap), trap)},
	}
	var commands [][]byte
	for _, r := range records {
		some, err := r.encode(nil)
		if err != nil {
			t.Fatal(err)
		}
		commands = append(commands, some)
	}
	return seal(commands)
}

const trap = "*2\r\n$4\r\nECHO\r\n$29\r\n" + lastWords + "00\r\n"

func read(snapshot []byte) ([][]string, error) {
	var got [][]string
	err := decode(snapshot, func(words []string) error {
		got = append(got, words)
		return nil
	})
	return got, err
}

func TestASnapshotIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	got, err := read(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"SET", "s", "a\r\nb"},
		{"DEL", "z"},
		{"ZADD", "z", "9007199254740991", "m", "1.5", "m2"},
		{"DEL", "h"},
		{"HSET", "h", "f", trap},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASnapshotCutAnywhereIsRefused(t *testing.T) {
	t.Parallel()
	whole := sample(t)
	for n := range whole {
		if got, err := read(whole[:n]); err == nil {
			t.Errorf("cut to %d of %d bytes: read as %q", n, len(whole), got)
		}
	}
	if got, err := read(append(slices.Clone(whole), '\n')); err == nil {
		t.Errorf("with a byte more: read as %q", got)
	}
}

func TestASnapshotWithAnyBitTurnedIsRefused(t *testing.T) {
	t.Parallel()
	whole := sample(t)
	for i := range whole {
		for bit := range 8 {
			turned := slices.Clone(whole)
			turned[i] ^= 1 << bit
			if got, err := read(turned); err == nil {
				t.Errorf("bit %d of byte %d turned: read as %q", bit, i, got)
			}
		}
	}
}

// The sum is right in all of these: somebody else wrote them.
func TestASnapshotOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	sealed := func(commands []byte) []byte { return appendCommand(commands, "ECHO", sumOf(commands)) }
	first := func() []byte { return appendCommand(nil, "ECHO", firstWords) }
	for name, snapshot := range map[string][]byte{
		"nothing":           nil,
		"an empty list":     sealed(nil),
		"no first words":    sealed(appendCommand(nil, "SET", "k", "v")),
		"another format":    sealed(appendCommand(nil, "ECHO", "leaderboard-snapshot format:2")),
		"a foreign command": sealed(appendCommand(first(), "FLUSHALL")),
		"a second ECHO":     sealed(appendCommand(first(), "ECHO", "x")),
		"an empty command":  sealed(append(first(), "*0\r\n"...)),
		"a huge count":      sealed(append(first(), "*2147483647\r\n$1\r\nx\r\n"...)),
		"a huge word":       sealed(append(first(), "*1\r\n$2147483647\r\nx\r\n"...)),
		"a negative count":  sealed(append(first(), "*-1\r\n"...)),
		"inline text":       sealed(append(first(), "SET k v\r\n"...)),
	} {
		if got, err := read(snapshot); err == nil {
			t.Errorf("%s: read as %q", name, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sample(f))
	f.Add(appendCommand(nil, "ECHO", sumOf(nil)))
	f.Fuzz(func(t *testing.T, commands []byte) {
		// Sealed, so that what stands behind the sum is reached.
		body := append(appendCommand(nil, "ECHO", firstWords), commands...)
		_, _ = read(appendCommand(body, "ECHO", sumOf(body)))
	})
}

func TestScoresAreSpelledDigitForDigit(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"9007199254740991":      "9007199254740991",
		"-9007199254740991":     "-9007199254740991",
		"9.007199254740992e+15": "9007199254740992",
		"1.785600000123456e+15": "1785600000123456",
		"0":                     "0",
		"1e+2":                  "100",
		"0.1":                   "0.1",
		"1e+300":                "1e+300",
		"inf":                   "+Inf",
		"-inf":                  "-Inf",
	} {
		list := []string{"member", given}
		if err := scoresFirst(list); err != nil {
			t.Errorf("%s: %v", given, err)
		}
		if list[0] != want {
			t.Errorf("%s: spelled %s, want %s", given, list[0], want)
		}
	}
	if err := scoresFirst([]string{"member", "nan"}); err == nil {
		t.Error("a score that is no number is written")
	}
}
