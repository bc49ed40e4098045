// A tool that uses the Azure SDK for Go as its documentation shows: client COMMAND SETTINGS_AS_JSON.
// Prints one JSON value: what was acknowledged and what was refused, as this client saw it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/Azure/go-autorest/autorest"
)

const (
	subscription = "11111111-1111-1111-1111-111111111111"
	think        = 30 * time.Millisecond
	pollEvery    = 100 * time.Millisecond
	attemptsMax  = 100
	withETags    = "2024-07-01" // of scale sets; the SDK's own are older than the first that knows ETags
)

type settings struct {
	Client     string  `json:"client"`
	Group      string  `json:"group"`
	Name       string  `json:"name"`
	Token      string  `json:"token"`
	Barrier    string  `json:"barrier"`
	Writes     int     `json:"writes"`
	Priority   int32   `json:"priority"`
	Think      int     `json:"think"`
	Seconds    float64 `json:"seconds"`
	Persist    bool    `json:"persist"`
	OldVersion string  `json:"oldVersion"`
	Id         string  `json:"id"`
	Version    string  `json:"version"`
	Capacity   int64   `json:"capacity"`
	Fresh      bool    `json:"fresh"` // each request has a connection of its own
}

// What became of one member.
type entry struct {
	Name       string   `json:"name"`
	Target     int      `json:"target"`
	Refused    int      `json:"refused"`
	Undeserved int      `json:"undeserved"`
	Unsure     []string `json:"unsure"`
	Outcome    string   `json:"outcome"`
	Ms         int64    `json:"ms"`
}

type result struct {
	Acknowledged []string `json:"acknowledged"`
	Refused      int      `json:"refused"`
	Undeserved   int      `json:"undeserved"`
	Worst        int      `json:"worst"`
	Errors       []string `json:"errors"`
	Adds         []entry  `json:"adds"`
	Ok           bool     `json:"ok"`
	Message      string   `json:"message"`
	Shown        string   `json:"shown"`
}

type credential string

func (c credential) OAuthToken() string { return string(c) }

// What the simulated ARM's judge is told about the next write; see sim/sim_arm.h.
type declaration struct{ client, write, base string }

// Something to add members to. write sends what read has read, with one member more.
type work struct {
	read  func(context.Context) (members []string, etag string, err error)
	write func(context.Context, string, int32) error
}

type tool struct {
	asked    settings
	declared declaration
}

// Sets up a client of the SDK; `version` replaces the api-version of scale sets, unless it is empty.
func (t *tool) prepare(client *autorest.Client, version string) {
	client.Authorizer = autorest.NewBearerAuthorizer(credential(t.asked.Token))
	client.PollingDelay = pollEvery
	client.RetryDuration = pollEvery
	client.RequestInspector = func(next autorest.Preparer) autorest.Preparer {
		return autorest.PreparerFunc(func(request *http.Request) (*http.Request, error) {
			request.Close = t.asked.Fresh
			if version != "" && strings.Contains(request.URL.Path, "/virtualMachineScaleSets/") {
				query := request.URL.Query()
				query.Set("api-version", version)
				request.URL.RawQuery = query.Encode()
			}
			if request.Method == http.MethodPut && t.declared.write != "" {
				request.Header.Set("x-sim-client", t.declared.client)
				request.Header.Set("x-sim-write-id", t.declared.write)
				if t.declared.base != "" {
					request.Header.Set("x-sim-base-etag", t.declared.base)
				}
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
	t := &tool{asked: asked}
	done := result{Acknowledged: []string{}, Errors: []string{}, Adds: []entry{}}
	switch os.Args[1] {
	case "addTags":
		t.addMembers(&done, t.tagsOf(asked.Name, withETags))
	case "addSubnets":
		t.addMembers(&done, t.subnetsOf(asked.Name))
	case "count":
		t.addMembers(&done, t.counterOf(asked.Name))
	case "changeOnce":
		t.changeOnce(&done)
	case "addRules":
		t.addMembers(&done, t.rulesOf(asked.Name))
	case "addOld":
		t.addMembers(&done, t.tagsOf("old", asked.OldVersion))
	case "addEverywhere":
		// To a scale set, a security group, and a scale set at an api-version without ETags.
		t.addMembers(&done, t.tagsOf("web", withETags), t.rulesOf("front"), t.tagsOf("old", asked.OldVersion))
	case "addById":
		t.addMembers(&done, t.tagsById(asked.Id, asked.Version))
	case "climb":
		t.climb(&done)
	case "restart":
		t.restart(&done)
	default:
		panic("no command " + os.Args[1])
	}
	text, _ := json.Marshal(done)
	fmt.Println(string(text))
}

// `writes` members, one after the other, to the works in turn.
func (t *tool) addMembers(done *result, works ...work) {
	awaitOthers(t.asked)
	if t.asked.Seconds == 0 {
		t.asked.Seconds = 200
	}
	until := time.Now().Add(time.Duration(t.asked.Seconds * float64(time.Second)))
	for i := 0; i < t.asked.Writes; i++ {
		log := entry{Name: fmt.Sprintf("%s-%d", t.asked.Client, i), Target: i % len(works), Unsure: []string{}}
		started := time.Now()
		log.Outcome = t.addOne(works[log.Target], i, until, &log)
		log.Ms = time.Since(started).Milliseconds()
		done.Adds = append(done.Adds, log)
		done.Refused += log.Refused
		done.Undeserved += log.Undeserved
		if log.Outcome == "acknowledged" {
			done.Acknowledged = append(done.Acknowledged, log.Name)
		}
		if log.Outcome == "failed" {
			done.Errors = append(done.Errors, log.Unsure...)
		}
	}
}

// Begins again, from the read, when refused with 412. If that read shows what was read before, the refusal was undeserved. With
// `persist`, whatever else goes wrong is looked into by reading, until there is no time left.
func (t *tool) addOne(target work, i int, until time.Time, log *entry) string {
	ctx := context.Background()
	lastRead := ""
	for attempt := 0; attempt < attemptsMax && time.Now().Before(until); attempt++ {
		members, etag, err := target.read(ctx)
		if err == nil {
			sort.Strings(members)
			for _, member := range members {
				if t.asked.Persist && member == log.Name {
					if len(log.Unsure) > 0 {
						return "found"
					}
					return "done but refused"
				}
			}
			shown := etag
			if t.asked.Persist {
				shown = strings.Join(members, ",")
			}
			if lastRead != "" && shown == lastRead {
				log.Undeserved++
			}
			lastRead = shown
			t.pause()
			t.declared = declaration{t.asked.Client, fmt.Sprintf("%s/%d", log.Name, attempt), etag}
			err = target.write(ctx, log.Name, t.asked.Priority+int32(i))
		}
		if err == nil {
			return "acknowledged"
		}
		if strings.Contains(err.Error(), "StatusCode=412") {
			log.Refused++
			continue
		}
		log.Unsure = append(log.Unsure, err.Error())
		if !t.asked.Persist {
			return "failed"
		}
		lastRead = ""
		time.Sleep(think)
	}
	return "unfinished"
}

func (t *tool) pause() {
	if t.asked.Think > 0 {
		time.Sleep(time.Duration(t.asked.Think) * time.Millisecond)
	} else {
		time.Sleep(think)
	}
}

// What an autoscaler does: reads, raises the capacity by one, writes the whole back, and waits for nothing.
func (t *tool) climb(done *result) {
	client, ctx, inRow := t.scaleSets(withETags), context.Background(), 0
	for i := 0; i < t.asked.Writes; i++ {
		set, err := client.Get(ctx, t.asked.Group, t.asked.Name)
		if err == nil {
			*set.Sku.Capacity++
			_, err = client.CreateOrUpdate(ctx, t.asked.Group, t.asked.Name, set)
		}
		if err != nil && !strings.Contains(err.Error(), "StatusCode=412") {
			panic(err)
		}
		inRow++
		if err == nil {
			inRow = 0
			continue
		}
		done.Refused++
		if inRow > done.Worst {
			done.Worst = inRow
		}
	}
}

func (t *tool) restart(done *result) {
	client := t.scaleSets("")
	ctx := context.Background()
	future, err := client.Restart(ctx, t.asked.Group, t.asked.Name, nil)
	if err == nil {
		err = future.WaitForCompletionRef(ctx, client.Client)
	}
	done.Ok = err == nil
	if err != nil {
		done.Message = err.Error()
	}
}
