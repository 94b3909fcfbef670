// Command temporal buys something in a workflow of Temporal: a plan is prepared, the user decides
// by a signal, and an activity that is retried commits the plan. Kill any worker at any time:
//
//	temporal server start-dev &
//	go run . worker &
//	go run . order https://shop.example "two tea pots"
//	go run . decide WORKFLOW-ID
//
// The workers share the file -key and the directory -plans. On several machines, use a key from
// your secret store and the ledger of contrib/redis or contrib/postgres. The flags of hostflags,
// such as -dev, come before the command; so "go run . -dev order http://localhost:8080 TEXT" works
// with a shop on your machine, if the worker has -dev and the same URL as an argument.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/contrib/hostflags"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "temporal:", err)
		os.Exit(1)
	}
}

// run runs one command.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	set := flag.NewFlagSet("temporal", flag.ContinueOnError)
	address := set.String("address", "localhost:7233", "`HOST:PORT` of the Temporal server")
	keyFile := set.String("key", "orders.key", "`FILE` with the key that seals plans; made if it is missing")
	plans := set.String("plans", "plans", "`DIRECTORY` of the ledger of plans; made if it is missing")
	var network hostflags.Flags
	network.Declare(set)
	if err := set.Parse(args); err != nil {
		return err
	}
	command, rest := set.Arg(0), set.Args()
	wants := map[string][]int{"worker": {1, 2}, "order": {3}, "decide": {2}} // arguments, with the command
	if !slices.Contains(wants[command], len(rest)) {
		return errors.New("usage: temporal [FLAGS] worker [SHOP] | order SHOP TEXT | decide WORKFLOW-ID")
	}
	key, err := readKey(*keyFile)
	if err != nil {
		return err
	}
	keys := lookleap.Keys{key}
	engine, err := client.Dial(client.Options{HostPort: *address})
	if err != nil {
		return err
	}
	defer engine.Close()
	switch command {
	case "worker":
		return work(ctx, engine, keys, *plans, set.Arg(1), &network)
	case "order":
		shop, err := network.URL(rest[1])
		if err != nil {
			return err
		}
		id := "order-" + strings.ToLower(rand.Text()[:8])
		order := Order{Shop: strings.TrimSuffix(shop, "/"), Text: rest[2]}
		_, err = engine.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: taskQueue}, Buy, order)
		if err == nil {
			fmt.Fprintln(out, id)
		}
		return err
	default:
		return decide(ctx, engine, keys, rest[1], in, out)
	}
}

// work runs a worker until ctx ends.
func work(ctx context.Context, engine client.Client, keys lookleap.Keys, plans, shop string, network *hostflags.Flags) error {
	if shop != "" {
		if _, err := network.URL(shop); err != nil {
			return err
		}
	}
	host, err := network.NewHost()
	if err != nil {
		return err
	}
	defer host.Close()
	store, err := hostflags.OpenStore(plans)
	if err != nil {
		return err
	}
	defer store.Close()
	host.Plans, host.Prompter = store, lookleap.SuspendingPrompter{}
	w := worker.New(engine, taskQueue, worker.Options{})
	w.RegisterWorkflow(Buy)
	w.RegisterActivity(&Activities{Host: &host.Host, Keys: keys})
	stop := make(chan any)
	context.AfterFunc(ctx, func() { close(stop) })
	return w.Run(stop)
}

// decide shows the plan of a workflow to the user, and signals the decision.
func decide(ctx context.Context, engine client.Client, keys lookleap.Keys, id string, in io.Reader, out io.Writer) error {
	value, err := engine.QueryWorkflow(ctx, id, "", queryPlan)
	if err != nil {
		return err
	}
	var prepared Prepared
	if err := value.Get(&prepared); err != nil {
		return err
	}
	decision, err := ask(keys, prepared, in, out)
	if err != nil {
		return err
	}
	if err := engine.SignalWorkflow(ctx, id, "", signalDecision, decision); err != nil {
		return err
	}
	var outcome Outcome
	if err := engine.GetWorkflow(ctx, id, "").Get(ctx, &outcome); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(outcome)
}

// ask shows a plan, and returns the sealed decision about it. Only "y" and "yes" agree. What follows a
// "n" is the user's reason.
func ask(keys lookleap.Keys, p Prepared, in io.Reader, out io.Writer) (string, error) {
	plan, err := openPlan(keys, p)
	if err != nil {
		return "", err
	}
	request := plan.Request()
	fmt.Fprintf(out, "%s\nDo you agree? [y/N] ", request.Complete())
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	fmt.Fprintln(out)
	d := lookleap.ConsentDecision{Digest: request.Digest}
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word = strings.ToLower(word); {
	case reason == "" && (word == "y" || word == "yes"):
		for _, item := range request.Items {
			d.Approved = append(d.Approved, item.ID)
		}
	case word == "n" || word == "no":
		d.Reason = reason
	}
	data, err := json.Marshal(d)
	if err != nil {
		return "", err
	}
	return keys.Seal(data)
}

// readKey reads the key of the workers, or makes it.
func readKey(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	key := lookleap.NewKey()
	_, err = f.Write(key)
	return key, errors.Join(err, f.Sync(), f.Close())
}
