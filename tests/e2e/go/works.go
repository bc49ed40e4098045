// What the client adds members to, and how each is read and written back.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/services/compute/mgmt/2017-12-01/compute"
	"github.com/Azure/azure-sdk-for-go/services/network/mgmt/2015-06-15/network"
	"github.com/Azure/azure-sdk-for-go/services/resources/mgmt/2016-09-01/resources"
	"github.com/Azure/go-autorest/autorest/to"
)

func (t *tool) rulesOf(name string) work {
	client := network.NewSecurityGroupsClient(subscription)
	t.prepare(&client.Client, "")
	var group network.SecurityGroup
	read := func(ctx context.Context) (members []string, etag string, err error) {
		group, err = client.Get(ctx, t.asked.Group, name, "")
		if err != nil {
			return nil, "", err
		}
		if group.SecurityRules == nil {
			group.SecurityRules = &[]network.SecurityRule{}
		}
		for _, rule := range *group.SecurityRules {
			members = append(members, to.String(rule.Name))
		}
		return members, to.String(group.Etag), nil
	}
	write := func(ctx context.Context, member string, priority int32) error {
		rules := append(*group.SecurityRules, network.SecurityRule{Name: to.StringPtr(member), SecurityRulePropertiesFormat: &network.SecurityRulePropertiesFormat{
			Priority: to.Int32Ptr(priority), Direction: network.Inbound, Access: network.Allow,
			Protocol: network.TCP, SourceAddressPrefix: to.StringPtr("*"), SourcePortRange: to.StringPtr("*"),
			DestinationAddressPrefix: to.StringPtr("*"), DestinationPortRange: to.StringPtr("443")}})
		group.SecurityRules = &rules
		group.Etag = nil // newer models never send it; this old one, chosen because it compiles in seconds, would
		future, err := client.CreateOrUpdate(ctx, t.asked.Group, name, group)
		if err != nil {
			return err
		}
		return future.WaitForCompletionRef(ctx, client.Client)
	}
	return work{read, write}
}

func (t *tool) scaleSets(version string) compute.VirtualMachineScaleSetsClient {
	client := compute.NewVirtualMachineScaleSetsClient(subscription)
	t.prepare(&client.Client, version)
	return client
}

func (t *tool) subnetsOf(name string) work {
	client := network.NewVirtualNetworksClient(subscription)
	t.prepare(&client.Client, "")
	var whole network.VirtualNetwork
	read := func(ctx context.Context) (members []string, etag string, err error) {
		whole, err = client.Get(ctx, t.asked.Group, name, "")
		if err != nil {
			return nil, "", err
		}
		if whole.Subnets == nil {
			whole.Subnets = &[]network.Subnet{}
		}
		for _, subnet := range *whole.Subnets {
			members = append(members, to.String(subnet.Name))
		}
		return members, to.String(whole.Etag), nil
	}
	write := func(ctx context.Context, member string, priority int32) error {
		prefix := fmt.Sprintf("10.%d.%d.0/24", priority/100, priority%100)
		subnets := append(*whole.Subnets, network.Subnet{Name: to.StringPtr(member),
			SubnetPropertiesFormat: &network.SubnetPropertiesFormat{AddressPrefix: to.StringPtr(prefix)}})
		whole.Subnets = &subnets
		whole.Etag = nil // as in rulesOf
		future, err := client.CreateOrUpdate(ctx, t.asked.Group, name, whole)
		if err != nil {
			return err
		}
		return future.WaitForCompletionRef(ctx, client.Client)
	}
	return work{read, write}
}

// One scale set, as the SDK shows it, and how it is written back.
func (t *tool) scaleSet(name, version string) (read func(context.Context) (*compute.VirtualMachineScaleSet, error), write func(context.Context) error) {
	client := t.scaleSets(version)
	var set compute.VirtualMachineScaleSet
	read = func(ctx context.Context) (_ *compute.VirtualMachineScaleSet, err error) {
		set, err = client.Get(ctx, t.asked.Group, name)
		return &set, err
	}
	write = func(ctx context.Context) error {
		future, err := client.CreateOrUpdate(ctx, t.asked.Group, name, set)
		if err != nil {
			return err
		}
		return future.WaitForCompletionRef(ctx, client.Client)
	}
	return read, write
}

func (t *tool) tagsOf(name, version string) work {
	readSet, writeSet := t.scaleSet(name, version)
	var set *compute.VirtualMachineScaleSet
	read := func(ctx context.Context) (members []string, etag string, err error) {
		if set, err = readSet(ctx); err == nil {
			etag = set.Response.Header.Get("ETag")
		}
		for member := range set.Tags {
			members = append(members, member)
		}
		return members, etag, err
	}
	write := func(ctx context.Context, member string, _ int32) error {
		set.Tags[member] = to.StringPtr(t.asked.Client)
		return writeSet(ctx)
	}
	return work{read, write}
}

// All count the same.
func (t *tool) counterOf(name string) work {
	readSet, writeSet := t.scaleSet(name, withETags)
	var set *compute.VirtualMachineScaleSet
	read := func(ctx context.Context) (_ []string, etag string, err error) {
		if set, err = readSet(ctx); err == nil {
			etag = set.Response.Header.Get("ETag")
		}
		return nil, etag, err
	}
	write := func(ctx context.Context, _ string, _ int32) error {
		*set.Sku.Capacity++
		return writeSet(ctx)
	}
	return work{read, write}
}

// One change of what everybody has read before anybody writes, and no second try.
func (t *tool) changeOnce(done *result) {
	ctx := context.Background()
	read, write := t.scaleSet(t.asked.Name, withETags)
	set, err := read(ctx)
	if err != nil {
		panic(err)
	}
	if t.asked.Capacity > 0 {
		set.Sku.Capacity = to.Int64Ptr(t.asked.Capacity)
	} else {
		set.Tags[t.asked.Client] = to.StringPtr(t.asked.Client)
	}
	awaitOthers(t.asked)
	if err = write(ctx); err == nil {
		done.Acknowledged = append(done.Acknowledged, t.asked.Client)
		return
	}
	done.Shown = err.Error()
	if strings.Contains(done.Shown, "StatusCode=412") {
		done.Refused = 1
	}
}

// Of whatever resource, as one that the SDK knows nothing of.
func (t *tool) tagsById(id, version string) work {
	client := resources.NewClient(subscription)
	t.prepare(&client.Client, "")
	id = strings.TrimPrefix(id, "/")
	var resource resources.GenericResource
	read := func(ctx context.Context) (members []string, etag string, err error) {
		resource, err = client.GetByID(ctx, id, version)
		for member := range resource.Tags {
			members = append(members, member)
		}
		return members, "", err
	}
	write := func(ctx context.Context, member string, _ int32) error {
		if resource.Tags == nil {
			resource.Tags = map[string]*string{}
		}
		resource.Tags[member] = to.StringPtr(t.asked.Client)
		future, err := client.CreateOrUpdateByID(ctx, id, version, resource)
		if err != nil {
			return err
		}
		return future.WaitForCompletionRef(ctx, client.Client)
	}
	return work{read, write}
}
