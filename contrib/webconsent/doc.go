// Package webconsent asks the user in a browser. A [Prompter] is a
// [lookleap.ConsentPrompter] and an [http.Handler]: it lists the plans that wait,
// shows each one as [lookleap.ConsentRequest.Sections] lays it out, and takes the
// user's decision about exactly the request that was shown.
//
//	prompter, err := webconsent.New(webconsent.Options{})
//	listener, err := net.Listen("tcp", "127.0.0.1:0")
//	go prompter.Serve(ctx, listener)
//	fmt.Println("Open", prompter.Link("http://"+listener.Addr().String()))
//	host := &lookleap.Host{Prompter: prompter}
//
// The zero Options serve the loopback interface, keep plans in memory, and let the
// operation wait until the user has decided. With Options.Wait the operation ends with a
// [*lookleap.PendingError]: [Prompter.Suspend] keeps it on the page, and [Prompter.Decided]
// returns what the user decided, also after a restart.
//
// A Prompter is the page of one user. A program with several users has a Prompter and a
// Store for each of them, and an Options.BaseURL on which it has authenticated the user.
// docs/packages.md shows a suspended plan and says what protects the page.
package webconsent
