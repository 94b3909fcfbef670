package lookleap_test

import (
	"errors"
	"fmt"
	"net/http/cookiejar"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/dvs"
)

const suffixList = "// VERSION: 2030-01-02\n// ===BEGIN ICANN DOMAINS===\ncom\n// ===END ICANN DOMAINS===\n// ===BEGIN PRIVATE DOMAINS===\npages.example\n// ===END PRIVATE DOMAINS===\n"

// The list of golang.org/x/net and the lists of cookie jars can be used too.
var (
	_ lookleap.PublicSuffixList  = publicsuffix.List
	_ cookiejar.PublicSuffixList = lookleap.PublicSuffixList(nil)
)

func ExampleUsePublicSuffixList() {
	list, err := lookleap.ReadPublicSuffixList(strings.NewReader(suffixList)) // usually a file
	if err != nil {
		fmt.Println(err)
		return
	}
	lookleap.UsePublicSuffixList(list)
	defer lookleap.UsePublicSuffixList(nil)

	_, err = dvs.ParseTrustRoot("https://pages.example/", dvs.Rules{})
	fmt.Println(lookleap.CodeOf(err))
	// Output: public-suffix-host
}

func TestPublicSuffixList(t *testing.T) {
	defer lookleap.UsePublicSuffixList(nil)
	list, err := lookleap.ReadPublicSuffixList(strings.NewReader(suffixList))
	if err != nil {
		t.Fatal(err)
	}
	// Each package that decides about registrable domains, before and with the list.
	for _, use := range []bool{false, true} {
		if lookleap.UsePublicSuffixList(nil); use {
			lookleap.UsePublicSuffixList(list)
		}
		t.Run(fmt.Sprintf("O25/accept-dvs-%t", use), func(t *testing.T) {
			if _, err := dvs.ParseTrustRoot("https://pages.example/", dvs.Rules{}); (err != nil) != use {
				t.Error(err)
			}
		})
		t.Run(fmt.Sprintf("O25/accept-prompt-%t", use), func(t *testing.T) {
			plan, err := lookleap.NewPlan(lookleap.ConsentRequest{Kind: lookleap.ConsentSkill, Origin: "https://a.pages.example", Summary: "x",
				Items: []lookleap.ConsentItem{{ID: "1", Recipient: "b.pages.example", Digest: lookleap.Digest(nil), Summary: "y"}}}, nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if other := plan.Request().Items[0].Class == lookleap.ItemOtherRecipient; other != use {
				t.Errorf("the recipient counts as another one: %t", other)
			}
		})
	}
	for name, text := range map[string]string{"reject-page": "<html>", "reject-cut": suffixList[:len(suffixList)-20]} {
		t.Run("O25/"+name, func(t *testing.T) {
			if list, err := lookleap.ReadPublicSuffixList(strings.NewReader(text)); list != nil || lookleap.CodeOf(err) != lookleap.CodeBadSuffixList {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
	t.Run("O25/reject-reader-that-fails", func(t *testing.T) {
		broken := errors.New("the disk is broken")
		if list, err := lookleap.ReadPublicSuffixList(iotest.ErrReader(broken)); list != nil || lookleap.CodeOf(err) != lookleap.CodeIO || !errors.Is(err, broken) {
			t.Errorf("%v, %v", list, err)
		}
	})
	t.Run("O25/reject-nil", func(t *testing.T) {
		if list, err := lookleap.ReadPublicSuffixList(nil); list != nil || lookleap.CodeOf(err) != lookleap.CodeUsage {
			t.Errorf("%v, %v", list, err)
		}
	})
}
