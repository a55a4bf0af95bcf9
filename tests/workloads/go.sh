#!/bin/sh
# Go: vet, build and test of a module with goroutines, processes and TCP, offline.
set -eu
export GOPROXY=off GOFLAGS=-mod=mod GOTOOLCHAIN=local GOTMPDIR="$TMPDIR" GOCACHE="$HOME/.cache/go" CGO_ENABLED=0
mkdir mod && cd mod
cat >go.mod <<'END'
module local/mod

go 1.18
END
cat >mod.go <<'END'
package main

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"sync"
)

func sum(n int) int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	total := 0
	for i := 1; i <= n; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			mu.Lock()
			total += i
			mu.Unlock()
		}(i)
	}
	wg.Wait()
	return total
}

// relay copies from one TCP connection to another, which the library does with splice where it can.
func relay(text string) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			io.Copy(c, c)
			c.Close()
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return "", err
	}
	io.WriteString(c, text)
	c.(*net.TCPConn).CloseWrite()
	b, err := io.ReadAll(c)
	return string(b), err
}

func main() {
	out, err := exec.Command("echo", "hi").Output()
	fmt.Printf("%d %q %v\n", sum(1000), out, err)
}
END
cat >mod_test.go <<'END'
package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestSum(t *testing.T) {
	if sum(1000) != 500500 {
		t.Fatal("sum")
	}
}

func TestRelay(t *testing.T) {
	if s, err := relay("hello"); s != "hello" || err != nil {
		t.Fatal(s, err)
	}
}

func TestProcess(t *testing.T) {
	f := filepath.Join(t.TempDir(), "f")
	if err := exec.Command("sh", "-c", "echo x >"+f).Run(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(f); string(b) != "x\n" {
		t.Fatal(err)
	}
}
END
go vet ./... && go build -o prog . && ./prog | grep -F '500500 "hi\n" <nil>' && go test ./...
