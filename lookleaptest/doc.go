// Package lookleaptest helps to test agents that use lookleap, and what they plug into it.
//
// # Contract tests
//
// A contract test checks an implementation of an interface of lookleap promise by promise:
// [TestCache], [TestPlanLedger]. Call it from a test of the implementation:
//
//	func TestContract(t *testing.T) {
//		lookleaptest.TestCache(t, lookleaptest.Engine[lookleap.Cache]{
//			Open: func(t testing.TB, name string) lookleap.Cache { return mycache.New(client, name) },
//		})
//	}
//
// Each promise is a subtest. If it is broken, the message states the promise and what was
// observed instead. The other fields of [Engine] let the test check more: whether data are
// shared between processes, and what happens when the back end hangs or its data are
// damaged.
package lookleaptest
