// A backend in Go 1.19 without modules. docs/guides/backends/register.md explains the steps.
//
// It registers and sends heartbeats. When a trigger calls, it verifies the signature, asks a partner through the ESB for the stock
// of each tenant, and notifies the people of the tenant.
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

const maxBodyBytes = 65_536

var (
	managerURL    = os.Getenv("MANAGER_URL")
	applicationID = os.Getenv("APPLICATION_ID")
	callbackURL   = os.Getenv("CALLBACK_URL")
	tokenFile     = os.Getenv("MACHINE_TOKEN_FILE")

	errNotFound = errors.New("not found")
	client      = &http.Client{Timeout: 30 * time.Second}

	mutex        sync.Mutex
	registration string
	// The previous secret stays valid for callbacks that were sent before the last registration.
	secrets []string
)

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
	if response.StatusCode == http.StatusNotFound {
		return errNotFound
	}
	if response.StatusCode >= 300 {
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		return fmt.Errorf("%s %s returned %d: %s", method, path, response.StatusCode, reason)
	}
	if result == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(result)
}

// beat sends a heartbeat, or registers where no registration exists.
func beat() error {
	mutex.Lock()
	defer mutex.Unlock()
	if registration != "" {
		err := ask(http.MethodPut, "/api/machine/backend/"+registration+"/heartbeat", nil, nil, nil)
		if !errors.Is(err, errNotFound) {
			return err
		}
	}
	body := map[string]string{"application_id": applicationID, "callback_url": callbackURL, "version": "1.0.0"}
	var answer struct {
		RegisteredID  string `json:"registered_id"`
		SigningSecret string `json:"signing_secret"`
	}
	if err := ask(http.MethodPost, "/api/machine/register-backend", body, &answer, nil); err != nil {
		return err
	}
	registration = answer.RegisteredID
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

// work does the work of a run, once per tenant.
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
		// A run can arrive twice. With its id in the key, its notification exists once.
		key := map[string]string{"Idempotency-Key": run + " " + tenant.ID}
		if err := ask(http.MethodPost, "/api/machine/comms/emit", notification, nil, key); err != nil {
			return err
		}
		fmt.Printf("%s for %s\n", runKey, tenant.Name)
	}
	return nil
}

// isOurs reports whether one of our secrets signed the callback. If the token in the request signed it, another instance has
// registered as the same machine user: the next heartbeat registers again.
func isOurs(header http.Header, body []byte) (ours, retry bool) {
	mutex.Lock()
	defer mutex.Unlock()
	for _, secret := range secrets {
		if isSignedWith(secret, header, body) {
			return true, false
		}
	}
	if !isSignedWith(strings.TrimPrefix(header.Get("Authorization"), "Bearer "), header, body) {
		return false, false
	}
	registration = ""
	return false, true
}

func receive(response http.ResponseWriter, request *http.Request) {
	if request.ContentLength < 0 || request.ContentLength >= maxBodyBytes {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	if ours, retry := isOurs(request.Header, body); retry {
		response.WriteHeader(http.StatusServiceUnavailable)
		return
	} else if !ours {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	var callback struct {
		RunKey string `json:"run_key"`
	}
	if err := json.Unmarshal(body, &callback); err != nil {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	run := request.Header.Get("webhook-id")
	// The Manager waits for 30 s, so the response is sent before the work.
	go func() {
		if err := work(run, callback.RunKey); err != nil {
			fmt.Println("failed:", err)
		}
	}()
	response.WriteHeader(http.StatusNoContent)
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
			mutex.Lock()
			if registration != "" {
				_ = ask(http.MethodDelete, "/api/machine/backend/"+registration, nil, nil, nil)
			}
			os.Exit(0)
		case <-time.After(time.Duration(seconds * float64(time.Second))):
		}
	}
}
