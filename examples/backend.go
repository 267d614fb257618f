// A backend in Go 1.19 without modules. docs/guides/backends/register.md explains the steps.
//
// It registers and sends heartbeats. When a trigger calls, it verifies the signature. For each tenant, it
// then asks a partner for the stock through the ESB, and notifies the users of the tenant.
//
// It needs an application with a tenant, a trigger, an endpoint /stock and a machine user that may call the
// endpoint. For a callback URL on this machine, the Manager needs SVC_CALLBACKS_ALLOWED_CIDRS=127.0.0.0/8.
//
//	MANAGER_URL=http://127.0.0.1:8080 MACHINE_TOKEN_FILE=token APPLICATION_ID=... \
//	CALLBACK_URL=http://127.0.0.1:9100/callbacks PORT=9100 go run examples/backend.go
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxBodyBytes  = 65_536
	maxRuns       = 8
	maxRemembered = 1_000
	stopTime      = 20 * time.Second
)

var (
	managerURL    = os.Getenv("MANAGER_URL")
	applicationID = os.Getenv("APPLICATION_ID")
	callbackURL   = os.Getenv("CALLBACK_URL")
	tokenFile     = os.Getenv("MACHINE_TOKEN_FILE")

	// Redirects are not followed, so that no other host receives the machine token.
	client = &http.Client{
		Timeout:       30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	// Locked only briefly, never during a request.
	mutex        sync.Mutex
	registration string
	mustRegister = true
	// The previous secret stays valid for callbacks that were sent before the last registration.
	secrets []string
	// A run can arrive twice. If its work must not happen twice after a restart, store the ids with your data.
	taken     = map[string]bool{}
	takenList []string
	runs      = make(chan struct{}, maxRuns)
)

type rejected struct {
	status  int
	message string
}

func (err rejected) Error() string { return err.message }

// ask calls the Manager and decodes the response into result.
func ask(method, path string, body, result any, headers map[string]string) error {
	// Read for every request, so that a rotated token is used immediately.
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, managerURL+path, content)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		return rejected{response.StatusCode, fmt.Sprintf("%s %s returned %d: %s", method, path, response.StatusCode, reason)}
	}
	if result == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(result)
}

// isAlive sends a heartbeat. It returns false if the registration no longer exists or belongs to a different
// machine user.
func isAlive() (bool, error) {
	mutex.Lock()
	id, isDue := registration, mustRegister
	mutex.Unlock()
	if id == "" || isDue {
		return false, nil
	}
	err := ask(http.MethodPut, "/api/machine/backend/"+id+"/heartbeat", nil, nil, nil)
	var answer rejected
	if errors.As(err, &answer) && (answer.status == http.StatusForbidden || answer.status == http.StatusNotFound) {
		return false, nil
	}
	return err == nil, err
}

// beat sends a heartbeat, or registers.
func beat() error {
	if alive, err := isAlive(); alive || err != nil {
		return err
	}
	body := map[string]string{"application_id": applicationID, "callback_url": callbackURL, "version": "1.0.0"}
	var answer struct {
		RegisteredID  string `json:"registered_id"`
		SigningSecret string `json:"signing_secret"`
	}
	if err := ask(http.MethodPost, "/api/machine/register-backend", body, &answer, nil); err != nil {
		return err
	}
	mutex.Lock()
	defer mutex.Unlock()
	registration, mustRegister = answer.RegisteredID, false
	secrets = append([]string{answer.SigningSecret}, secrets...)
	if len(secrets) > 2 {
		secrets = secrets[:2]
	}
	return nil
}

// isSignedWith verifies the signature and the time of a callback (Standard Webhooks).
func isSignedWith(secret string, header http.Header, body []byte) bool {
	sentAt, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(sentAt, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", header.Get("webhook-id"), header.Get("webhook-timestamp"))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

// work processes a run, once per tenant.
func work(run, runKey string) error {
	var answer struct {
		Tenants []struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"tenants"`
	}
	if err := ask(http.MethodGet, "/api/machine/application/"+applicationID+"/tenants", nil, &answer, nil); err != nil {
		return err
	}
	for _, tenant := range answer.Tenants {
		var stock struct {
			Left int `json:"left"`
		}
		question := map[string]string{"tenant": tenant.Name}
		if err := ask(http.MethodPost, "/esb/"+applicationID+"/stock", question, &stock, nil); err != nil {
			return err
		}
		notification := map[string]any{
			"application_id": applicationID,
			"tenant_id":      tenant.ID,
			"title":          fmt.Sprintf("Tulips left: %d", stock.Left),
			"data":           stock,
		}
		// A run can arrive twice. The run id in the key ensures that only one notification is created.
		key := map[string]string{"Idempotency-Key": run + " " + tenant.ID}
		if err := ask(http.MethodPost, "/api/machine/comms/emit", notification, nil, key); err != nil {
			return err
		}
		fmt.Printf("%s for %s\n", runKey, tenant.Name)
	}
	return nil
}

// isOurs reports whether one of our secrets signed the callback.
func isOurs(header http.Header, body []byte) bool {
	mutex.Lock()
	known := append([]string{}, secrets...)
	mutex.Unlock()
	for _, secret := range known {
		if isSignedWith(secret, header, body) {
			return true
		}
	}
	return false
}

// accept accepts or rejects a callback and returns the status of the response.
func accept(header http.Header, body []byte) int {
	if !isOurs(header, body) {
		if !isSignedWith(strings.TrimPrefix(header.Get("Authorization"), "Bearer "), header, body) {
			return http.StatusUnauthorized
		}
		// Another instance registered as the same machine user. The next heartbeat registers again, and the Manager retries.
		mutex.Lock()
		mustRegister = true
		mutex.Unlock()
		return http.StatusServiceUnavailable
	}
	var callback struct {
		RunKey string `json:"run_key"`
	}
	if err := json.Unmarshal(body, &callback); err != nil {
		return http.StatusBadRequest
	}
	run := header.Get("webhook-id")
	mutex.Lock()
	defer mutex.Unlock()
	if taken[run] {
		return http.StatusNoContent
	}
	select {
	case runs <- struct{}{}:
	default:
		// Too many runs are active. The Manager retries this one.
		return http.StatusServiceUnavailable
	}
	taken[run] = true
	takenList = append(takenList, run)
	if len(takenList) > maxRemembered {
		delete(taken, takenList[0])
		takenList = takenList[1:]
	}
	// The Manager waits at most 30 s, so the response is sent before the work starts.
	go func() {
		defer func() { <-runs }()
		if err := work(run, callback.RunKey); err != nil {
			fmt.Println("failed:", err)
		}
	}()
	return http.StatusNoContent
}

func receive(response http.ResponseWriter, request *http.Request) {
	if request.ContentLength < 0 || request.ContentLength > maxBodyBytes {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	response.WriteHeader(accept(request.Header, body))
}

// stop unregisters and waits for accepted runs, because the Manager does not send them again.
func stop() {
	mutex.Lock()
	id := registration
	mutex.Unlock()
	if id != "" {
		if err := ask(http.MethodDelete, "/api/machine/backend/"+id, nil, nil, nil); err != nil {
			fmt.Println("failed:", err)
		}
	}
	deadline := time.After(stopTime)
	for slot := 0; slot < maxRuns; slot++ {
		select {
		case runs <- struct{}{}:
		case <-deadline:
			return
		}
	}
}

func valueOr(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

func main() {
	seconds, err := strconv.ParseFloat(os.Getenv("HEARTBEAT_SECONDS"), 64)
	if err != nil || seconds <= 0 {
		seconds = 30
	}
	server := &http.Server{
		Addr:              valueOr(os.Getenv("HOST"), "127.0.0.1") + ":" + valueOr(os.Getenv("PORT"), "9100"),
		Handler:           http.HandlerFunc(receive),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
	}
	go func() {
		fmt.Println("stopped:", server.ListenAndServe())
		os.Exit(1)
	}()
	stopping := make(chan os.Signal, 1)
	signal.Notify(stopping, syscall.SIGTERM, os.Interrupt)
	for {
		if err := beat(); err != nil {
			fmt.Println("failed:", err)
		}
		select {
		case <-stopping:
			stop()
			os.Exit(0)
		case <-time.After(time.Duration(seconds * float64(time.Second))):
		}
	}
}
