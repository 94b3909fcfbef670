package main

import (
	"fmt"

	"github.com/lookleap/lookleap"
)

// The parts of SARIF 2.1.0 that a report uses.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		ColumnKind  string            `json:"columnKind"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string       `json:"id"`
		Short sarifMessage `json:"shortDescription"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
)

// sarifLog returns the results as a SARIF log. What could not be checked is a notification of
// the run, which then counts as failed: it is not a finding about the skill.
func (all *report) sarifLog() sarifLog {
	run := sarifRun{Tool: sarifTool{sarifDriver{"lookleap", buildVersion(), "https://github.com/lookleap/lookleap", []sarifRule{}}},
		Results: []sarifResult{}, ColumnKind: "unicodeCodePoints"}
	done := sarifInvocation{Successful: true}
	rules := map[lookleap.Code]int{}
	for i := range all.results {
		r := &all.results[i]
		if r.outcome() == uncheckedOutcome {
			done.Successful = false
			done.Notifications = append(done.Notifications, sarifNotification{"error",
				sarifMessage{fmt.Sprintf("%s could not be checked: %s (%s)", r.Input, r.Message, r.Code)}})
			continue
		}
		for _, f := range all.findings(r) {
			index, known := rules[f.Code]
			if !known {
				index = len(rules)
				rules[f.Code] = index
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{string(f.Code), sarifMessage{f.Code.Title()}})
			}
			level := map[lookleap.Severity]string{lookleap.SeverityError: "error", lookleap.SeverityWarning: "warning"}[f.Severity]
			if level == "" {
				level = "note"
			}
			var locations []sarifLocation
			if f.uri != "" {
				locations = []sarifLocation{{sarifPhysical{Artifact: sarifArtifact{f.uri}}}}
				if f.Line > 0 {
					locations[0].Physical.Region = &sarifRegion{f.Line, f.Column}
				}
			}
			run.Results = append(run.Results, sarifResult{RuleID: string(f.Code), RuleIndex: index, Level: level,
				Message:      sarifMessage{f.text()},
				Locations:    locations,
				Fingerprints: map[string]string{"lookleap/v1": lookleap.Digest([]byte(string(f.Code) + "\n" + f.uri + "\n" + f.Message))}})
		}
	}
	run.Invocations = []sarifInvocation{done}
	return sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}}
}
