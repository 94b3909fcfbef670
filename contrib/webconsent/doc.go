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
// operation wait until the user has decided.
//
// # Suspended plans
//
// With Options.Wait, an operation that waited for so long ends with a
// [*lookleap.PendingError]. [Prompter.Suspend] seals its state and stores it, so the plan
// stays on the page after a restart. [Prompter.Decided] returns what the user decided,
// in any process with the same Store and Key:
//
//	var pending *lookleap.PendingError
//	if errors.As(err, &pending) {
//		err = prompter.Suspend(ctx, pending)
//	}
//	…
//	for d, err := range prompter.Decided(ctx) {
//		result, err := session.Resume(ctx, d.State, d.Decision)
//		err = prompter.Forget(ctx, d.ID)
//	}
//
// A plan that is resumed twice has its effect once, if the processes share a
// [lookleap.PlanLedger].
//
// # One user
//
// A Prompter is the page of one user. A program with several users has a Prompter and a
// Store for each of them, and an Options.BaseURL on which it has authenticated the user.
//
// # What protects the page
//
// A one-time link opens a session in one browser. Requests of other pages, of other
// origins, and through DNS names that point at this machine are refused. A decision needs
// a token that depends on the session and on the digest of the plan. Text of others
// cannot style or script anything: the page runs one script of this package, loads
// nothing, and works without JavaScript.
package webconsent
