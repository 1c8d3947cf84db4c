package modelapi

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/strictjson"
)

// Servers say the same things with many statuses. These are the words that count for more than the status: codes where
// a vendor has one, else the sentences that are known of servers.
var (
	saysQuotaCode = regexp.MustCompile(
		`insufficient_quota|billing_hard_limit_reached|billing_not_active|rate_limit_daily|billing_error`)
	saysQuota = regexp.MustCompile(
		`(?i)exceeded your current quota|credit balance|insufficient (account )?(balance|credits?|funds)|daily limit`)
	saysLength = regexp.MustCompile(
		`(?i)context_length_exceeded|exceed_context_size|model_max_prompt_tokens_exceeded|` +
			`(fit in|exceeds?|longer than|maximum|over) [^.]{0,40}context|context (length|window|size)[^.]{0,` +
			`30}(is|exceed|only|limit|too)|` +
			`maximum context|(prompt|input|conversation) is too (long|large)|too many (input |prompt ` +
			`)?tokens|reduce the length|` +
			`input token count[^.]*exceeds|inputs\W+tokens \+ \W*max_new_tokens`)
	saysLarge    = regexp.MustCompile(`(?i)request too large for`) // for the limit of a minute: it never fits into one
	saysBusy     = regexp.MustCompile(`(?i)wait before trying again|ThrottlingException`)
	saysKey      = regexp.MustCompile(`(?i)api key not valid|(incorrect|invalid) api[ _]key`)
	saysFlagged  = regexp.MustCompile(`(?i)input was flagged`)
	saysCall     = regexp.MustCompile(`tool_use_failed|MALFORMED_FUNCTION_CALL`)
	saysDeclined = regexp.MustCompile(
		`content_filter|content_policy_violation|ResponsibleAIPolicyViolation|data_inspection_failed`)
	saysWait = regexp.MustCompile(
		`(?i)(?:try again|retry) in (\d+(?:\.\d+)?(?:ms|s|m|h)(?:\d+(?:\.\d+)?(?:ms|s|m))*)`)
	saysStatus   = regexp.MustCompile(`(?i)error code:? (\d{3})\b`)
	saysEndpoint = regexp.MustCompile(`(?i)unexpected endpoint|unknown endpoint|no such endpoint`)
)

// inFront are the statuses of pages that no API answers a call with; what stands in front of it may let the next call
// pass.
var inFront = []int{
	http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusMisdirectedRequest,
	http.StatusUnavailableForLegalReasons,
}

// known is the error of a complaint whose words count for more than its status; nil: there is none.
func (e *Endpoint) known(c Complaint) *core.Error {
	says := c.Says()
	limited := c.Status == http.StatusTooManyRequests
	switch {
	case saysQuotaCode.MatchString(says), c.wait == 0 && saysQuota.MatchString(says):
		category := core.ProviderRateLimit
		if c.Status == http.StatusPaymentRequired {
			category = core.ProviderAuthentication
		}
		return e.Refusal(c, category,
			"%s says that the account has nothing left for the model %s. Check its plan, its limits and its billing.",
			e.Place, e.Model).Because(core.QuotaUsedUp)
	case saysCall.MatchString(says):
		return e.Misspoken(c)
	case saysDeclined.MatchString(c.Kind + " " + c.Code),
		c.Status == http.StatusForbidden && saysFlagged.MatchString(c.Message):
		return e.Refusal(c, core.ProviderInvalidRequest, "%s declines what was said: %s", e.Place,
			c.Message).Because(core.AnswerDeclined)
	case !limited && saysBusy.MatchString(says):
		c.Status = http.StatusTooManyRequests
		return e.Refused(c)
	case c.Status == http.StatusBadRequest && saysKey.MatchString(says):
		return e.Refusal(c, core.ProviderAuthentication,
			"%s refuses the API key for the model %s (%d). Check %s_API_KEY.",
			e.Place, e.Model, c.Status, e.Settings)
	case c.Status == http.StatusRequestEntityTooLarge,
		limited && saysLarge.MatchString(says),
		!limited && c.Status != http.StatusNotFound && saysLength.MatchString(says):
		return e.TooLong(c)
	case c.Status == http.StatusProxyAuthRequired, c.html && slices.Contains(inFront, c.Status):
		return e.Refusal(c, core.ProviderUnavailable,
			"Something in front of %s refuses the call (%d), and not the API: a proxy or a firewall. "+
				"Check HTTPS_PROXY, %s_BASE_URL, and what stands between.", e.Place, c.Status, e.Settings)
	case c.page && c.Status == http.StatusForbidden:
		return e.Refusal(c, core.ProviderInvalidRequest,
			"Something in front of %s refuses the call (%d), and not the API: a proxy or a firewall. "+
				"Check %s_BASE_URL, and what stands between.", e.Place, c.Status, e.Settings)
	}
	return nil
}

// Misspoken is the error of a complaint about a call that the vendor's own model wrote: it may write a better one.
func (e *Endpoint) Misspoken(c Complaint) *core.Error {
	return e.Refusal(c, core.ProviderInvalidResponse, "The model %s wrote a call that %s can't read.", e.Model,
		e.Place).Because(core.AnswerGarbled)
}

// IsMisspoken reports whether a finish reason says that the vendor could not read its model's call.
func IsMisspoken(finish string) bool { return saysCall.MatchString(finish) }

// fits is how many tokens the model takes, as a refusal says it: the highest number below the highest one, which is
// what was sent; 0: it says none.
func (c Complaint) fits() int {
	const least = 512 // a lower one is a status, or a year of days
	most, any := c.Below(1 << 40)
	if lower, more := c.Below(most); more && lower >= least {
		most = lower
	}
	if !any || most < least {
		return 0
	}
	return int(most)
}

// asksToWait is how long a sentence asks to wait, where no header does.
func asksToWait(message string) time.Duration {
	found := saysWait.FindStringSubmatch(message)
	if found == nil {
		return 0
	}
	wait, _ := time.ParseDuration(found[1]) // as the expression has it
	return min(wait, 24*time.Hour)
}

// statuses are those that an API would have answered with, by the type or the code of an error inside a good answer.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest, "authentication_error": http.StatusUnauthorized,
	"billing_error":    http.StatusPaymentRequired,
	"permission_error": http.StatusForbidden, "not_found_error": http.StatusNotFound,
	"request_too_large": http.StatusRequestEntityTooLarge,
	"rate_limit_error":  http.StatusTooManyRequests, "timeout_error": http.StatusGatewayTimeout,
	"overloaded_error": 529,
	"api_error":        http.StatusInternalServerError, "invalid_api_key": http.StatusUnauthorized,
	"model_not_found":     http.StatusNotFound,
	"rate_limit_exceeded": http.StatusTooManyRequests, "server_error": http.StatusInternalServerError,
	"RESOURCE_EXHAUSTED": http.StatusTooManyRequests,
	"INVALID_ARGUMENT":   http.StatusBadRequest, "PERMISSION_DENIED": http.StatusForbidden,
	"UNAUTHENTICATED": http.StatusUnauthorized,
	"NOT_FOUND":       http.StatusNotFound,
}

// StatusIn is the status that an error inside a good answer stands for: its code, or its type; 502 if it names none, or
// is missing.
func StatusIn(fault *strictjson.Value) int {
	if fault == nil {
		return http.StatusBadGateway
	}
	for _, key := range []string{"code", "status", "type"} {
		v := fault.Get(key)
		if v == nil {
			continue
		}
		word := v.Number.String() + v.String
		if n, err := strconv.Atoi(word); err == nil && n >= 400 && n < 600 {
			return n
		}
		if n := statuses[word]; n != 0 {
			return n
		}
	}
	says := cmp.Or(Text(fault, "message"), fault.String)
	if found := saysStatus.FindStringSubmatch(says); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n >= 400 && n < 600 {
			return n
		}
	}
	if saysEndpoint.MatchString(says) {
		return http.StatusMethodNotAllowed
	}
	return http.StatusBadGateway
}

// tooLarge makes an error one about the size of a request.
func (c Complaint) tooLarge(e *core.Error) *core.Error {
	e.Err = llm.TooLong{Most: c.fits(), Err: e.Err}
	return e.Because(core.ConversationTooLong)
}
