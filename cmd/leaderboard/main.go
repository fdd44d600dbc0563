// Command leaderboard serves boards for games, and moves scores in and out of a running server.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // boards name IANA zones: the program knows them where the machine does not

	"github.com/alecthomas/kong"
)

// commandLine is the whole of it: a field a subcommand.
type commandLine struct {
	Serve   serveCmd   `cmd:"" default:"withargs" help:"Serve boards. This is what happens when no command is named."`
	Import  importCmd  `cmd:"" help:"Send a CSV file of scores to a board."`
	Export  exportCmd  `cmd:"" help:"Write a board as CSV to standard output, in its exact order."`
	Bots    botsCmd    `cmd:"" help:"Simulated players who post scores to a board until stopped."`
	Bench   benchCmd   `cmd:"" help:"Measure a running server beside a constant reply on the same machine."`
	Health  healthCmd  `cmd:"" help:"Ask the server on this machine whether it is ready; status 0 says yes."`
	Version versionCmd `cmd:"" help:"Print the version."`

	Reply replyCmd `cmd:"" hidden:"" help:"The constant reply that bench measures."`
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// errSaid ends a command with status 1 when it has told the reason already.
var errSaid = errors.New("the reason was printed")

func main() {
	os.Exit(start())
}

// start is main with room for deferred calls.
func start() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // whoever presses Ctrl-C twice means it
	return run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
}

// run does what the arguments say and returns the exit status: 0, 1 for what went wrong, 80 for wrong arguments.
func run(ctx context.Context, args []string, std streams) int {
	exited, status := false, 0
	parser, err := kong.New(&commandLine{},
		kong.Name("leaderboard"),
		kong.Description("A leaderboard server for games."),
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { exited, status = true, code }), // --help ends here, and parsing goes on after it
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(std),
	)
	if err != nil {
		panic(err) // the struct tags above are wrong
	}
	command, err := parser.Parse(args)
	if exited {
		return status
	}
	if err == nil {
		err = command.Run()
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSaid):
		return 1
	}
	fmt.Fprintln(std.err, "leaderboard:", oneLine(err.Error()))
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok {
		fmt.Fprintln(std.err, "leaderboard --help says what there is.")
		return wrong.ExitCode()
	}
	return 1
}
