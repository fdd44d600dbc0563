package worker

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"leaderboard/store"
)

const (
	webhookTime  = 10 * time.Second
	maxReply     = 64 << 10       // bytes read of a reply, so that the connection can be used again
	longestDefer = 24 * time.Hour // that a receiver may ask for
)

// Webhooks posts events to the receivers of boards.
type Webhooks struct {
	client *http.Client
	now    func() time.Time
}

// NewWebhooks returns webhooks that reach public addresses, and those in the allowed networks.
func NewWebhooks(allowed []netip.Prefix) *Webhooks {
	dialer := net.Dialer{Timeout: 5 * time.Second, Control: guard{allowed}.control}
	return &Webhooks{
		now: time.Now,
		client: &http.Client{
			Timeout: webhookTime,
			// A redirect could lead anywhere, and would turn the POST into a GET.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				Proxy:                  nil, // a proxy would connect on our behalf, to addresses that we do not see
				DialContext:            dialer.DialContext,
				TLSHandshakeTimeout:    5 * time.Second,
				MaxResponseHeaderBytes: 32 << 10,
				DisableCompression:     true,
				MaxIdleConnsPerHost:    4,
				IdleConnTimeout:        time.Minute,
				ForceAttemptHTTP2:      true,
			},
		},
	}
}

// message is the body of a webhook.
type message struct {
	ID     string          `json:"id"`
	Event  string          `json:"event"`
	Board  store.BoardID   `json:"board"`
	Season int64           `json:"season"`
	At     string          `json:"at"`
	Data   json.RawMessage `json:"data"`
}

func bodyOf(e *store.Event) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(message{
		ID: e.ID, Event: e.Kind, Board: e.Board, Season: e.Season,
		At: e.At.UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano), Data: e.Data,
	})
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), err
}

// Sign returns what the header Leaderboard-Signature says of a body that is sent at a time in Unix seconds.
func Sign(secret string, timestamp int64, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.", timestamp)
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// Send posts an event once. An error says why the receiver cannot be taken to have it; it is one of [After] when the
// receiver said when to come again.
func (w *Webhooks) Send(ctx context.Context, to store.Webhook, event store.Event) error {
	body, err := bodyOf(&event)
	if err != nil {
		return Final(fmt.Errorf("worker: webhook: %w", err))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return Final(fmt.Errorf("worker: webhook: %w", err))
	}
	now := w.now().Unix()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "leaderboard")
	request.Header.Set("Leaderboard-Timestamp", strconv.FormatInt(now, 10))
	request.Header.Set("Leaderboard-Signature", Sign(to.Secret, now, body))
	response, err := w.client.Do(request)
	if err != nil {
		return fmt.Errorf("worker: webhook: %w", err)
	}
	defer response.Body.Close()
	// What is left unread ends the connection. An error here changes nothing: the status has arrived.
	_, _ = io.CopyN(io.Discard, response.Body, maxReply)
	if response.StatusCode/100 == 2 {
		return nil
	}
	err = fmt.Errorf("worker: webhook: the receiver answered %s", strconv.Itoa(response.StatusCode))
	if wait := retryAfter(response.Header.Get("Retry-After"), w.now()); wait > 0 {
		return After(wait, err)
	}
	return err
}

// retryAfter reads a header of seconds or a date; 0 when it says nothing.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, longestDefer)
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(at.Sub(now), 0), longestDefer)
	}
	return 0
}
