package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
)

type replyCmd struct{}

// Run answers every request in the same words, until standard input ends.
func (replyCmd) Run(ctx context.Context, std streams) error {
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Use(func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.SendString(`{"status":"ok"}`)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(std.out, listener.Addr())
	ended := make(chan error, 1)
	go func() { ended <- app.Listener(listener) }()
	go func() {
		_, _ = io.Copy(io.Discard, std.in)
		_ = app.ShutdownWithTimeout(time.Second)
	}()
	return <-ended
}

// startReply starts the constant reply as a process of its own, as the server that is measured is one.
func startReply(ctx context.Context) (address string, stop func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	child := exec.CommandContext(ctx, program, "reply")
	in, err := child.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := child.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := child.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = in.Close() // it ends when its input does, also when we are killed
		_ = child.Wait()
	}
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, err
	}
	return strings.TrimSpace(address), stop, nil
}
