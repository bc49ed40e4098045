// A tool that uses the Azure SDK for Go as its documentation shows: client COMMAND SETTINGS_AS_JSON.
// Prints one JSON value: what was acknowledged and what was refused, as this client saw it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/services/compute/mgmt/2017-12-01/compute"
	"github.com/Azure/azure-sdk-for-go/services/network/mgmt/2015-06-15/network"
	"github.com/Azure/go-autorest/autorest"
	"github.com/Azure/go-autorest/autorest/to"
)

const (
	subscription = "11111111-1111-1111-1111-111111111111"
	think        = 30 * time.Millisecond
	pollEvery    = 100 * time.Millisecond
	attemptsMax  = 100
)

type settings struct {
	Client   string `json:"client"`
	Group    string `json:"group"`
	Name     string `json:"name"`
	Token    string `json:"token"`
	Barrier  string `json:"barrier"`
	Writes   int    `json:"writes"`
	Priority int32  `json:"priority"`
}

type result struct {
	Acknowledged []string          `json:"acknowledged"`
	Refused      int               `json:"refused"`
	Undeserved   int               `json:"undeserved"`
	Errors       []json.RawMessage `json:"errors"`
	Ok           bool              `json:"ok"`
	Message      string            `json:"message"`
}

type credential string

func (c credential) OAuthToken() string { return string(c) }

// What the simulated ARM's judge is told about each write; see sim/sim_arm.h.
func declaring(base *string) autorest.PrepareDecorator {
	return func(next autorest.Preparer) autorest.Preparer {
		return autorest.PreparerFunc(func(request *http.Request) (*http.Request, error) {
			if request.Method == http.MethodPut && *base != "" {
				request.Header.Set("x-sim-base-etag", *base)
			}
			return next.Prepare(request)
		})
	}
}

// All clients of a race begin at once: when the barrier appears.
func awaitOthers(asked settings) {
	if asked.Barrier == "" {
		return
	}
	if err := os.WriteFile(asked.Barrier+"."+asked.Client, nil, 0o600); err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(asked.Barrier); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func main() {
	var asked settings
	if err := json.Unmarshal([]byte(os.Args[2]), &asked); err != nil {
		panic(err)
	}
	if asked.Token == "" {
		asked.Token = "test-token"
	}
	authorizer := autorest.NewBearerAuthorizer(credential(asked.Token))
	done := result{Acknowledged: []string{}, Errors: []json.RawMessage{}}
	switch os.Args[1] {
	case "addRules":
		addRules(asked, authorizer, &done)
	case "restart":
		restart(asked, authorizer, &done)
	default:
		panic("no command " + os.Args[1])
	}
	text, _ := json.Marshal(done)
	fmt.Println(string(text))
}

// Reads, changes and writes back the whole group; begins again, from the read, when refused with 412. If that read shows
// what was read before, the refusal was undeserved.
func addRules(asked settings, authorizer autorest.Authorizer, done *result) {
	client := network.NewSecurityGroupsClient(subscription)
	client.Authorizer = authorizer
	client.PollingDelay = pollEvery
	base := ""
	client.RequestInspector = declaring(&base)
	awaitOthers(asked)
	for i := 0; i < asked.Writes; i++ {
		member := fmt.Sprintf("%s-%d", asked.Client, i)
		lastRead := ""
		for attempt := 0; attempt < attemptsMax; attempt++ {
			err := addRule(client, asked, member, asked.Priority+int32(i), &base)
			if lastRead != "" && lastRead == base {
				done.Undeserved++
			}
			lastRead = base
			if err == nil {
				done.Acknowledged = append(done.Acknowledged, member)
				break
			}
			if !strings.Contains(err.Error(), "StatusCode=412") {
				text, _ := json.Marshal(err.Error())
				done.Errors = append(done.Errors, text)
				break
			}
			done.Refused++
		}
	}
}

func addRule(client network.SecurityGroupsClient, asked settings, member string, priority int32, base *string) error {
	ctx := context.Background()
	group, err := client.Get(ctx, asked.Group, asked.Name, "")
	if err != nil {
		return err
	}
	rules := []network.SecurityRule{}
	if group.SecurityRules != nil {
		rules = *group.SecurityRules
	}
	rules = append(rules, network.SecurityRule{Name: to.StringPtr(member), SecurityRulePropertiesFormat: &network.SecurityRulePropertiesFormat{
		Priority: to.Int32Ptr(priority), Direction: network.Inbound, Access: network.Allow,
		Protocol: network.TCP, SourceAddressPrefix: to.StringPtr("*"), SourcePortRange: to.StringPtr("*"),
		DestinationAddressPrefix: to.StringPtr("*"), DestinationPortRange: to.StringPtr("443")}})
	group.SecurityRules = &rules
	*base = to.String(group.Etag)
	group.Etag = nil // newer models never send it; this old one, chosen because it compiles in seconds, would
	time.Sleep(think)
	future, err := client.CreateOrUpdate(ctx, asked.Group, asked.Name, group)
	if err != nil {
		return err
	}
	return future.WaitForCompletionRef(ctx, client.Client)
}

func restart(asked settings, authorizer autorest.Authorizer, done *result) {
	client := compute.NewVirtualMachineScaleSetsClient(subscription)
	client.Authorizer = authorizer
	client.PollingDelay = pollEvery
	ctx := context.Background()
	future, err := client.Restart(ctx, asked.Group, asked.Name, nil)
	if err == nil {
		err = future.WaitForCompletionRef(ctx, client.Client)
	}
	done.Ok = err == nil
	if err != nil {
		done.Message = err.Error()
	}
}
