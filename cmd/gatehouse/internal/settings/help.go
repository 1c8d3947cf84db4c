package settings

// help says what each setting of Config and Model means.
var help = map[string]string{
	"GATEHOUSE_DATABASE_URL": "The database: sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE for more than " +
		"one replica.",
	"GATEHOUSE_LISTEN": "HOST:PORT of the HTTP server: platform webhooks, /healthz, /readyz.",
	"GATEHOUSE_URL": "The address at which people reach the pages, such as https://chat.example.com/bot: with the " +
		"path, if a proxy has them under one. Not set: the root of whatever host they are asked for at.",
	"GATEHOUSE_SECRET_KEY": "Signs the values of buttons and the audit log, and encrypts the logins to MCP " +
		"servers. Several keys are separated by commas, newest first. Not set: a key is generated and kept in the " +
		"database.",
	"GATEHOUSE_AGENT": "The agent that answers: llm, demo, echo, or script:FILE for a workflow in HarmonyScript. " +
		"Not set: llm if a model is set, else demo.",
	"GATEHOUSE_ECHO_DELAY": "How long the echo agent waits before it answers. It answers a message that begins " +
		"with \"at once\" without waiting.",
	"GATEHOUSE_APPROVERS": "Who may approve changes, such as {people}. Not set: only who is at gatehouse's own " +
		"machine, for requests made there.",
	"GATEHOUSE_TOKENS": "Who may use the OpenHarness endpoint and the web pages: name=token,name!=token; the ! " +
		"makes an approver. Not set: only browsers and programs on gatehouse's own machine.",
	"GATEHOUSE_METRICS_TOKEN": "The token that a scraper of /metrics sends as Authorization: Bearer. Not set: only " +
		"programs on gatehouse's own machine may read the metrics.",
	"GATEHOUSE_SYSTEM_PROMPT_FILE": "The system prompt of the model: a text file, or a folder of prompts with one " +
		"that is called system. It may use {{ platform }}, {{ today }} and {{ zone }}.",
	"GATEHOUSE_APPROVAL_POLICY": "A YAML file with rules: which calls are allowed, which are denied, and who may " +
		"approve the others. SIGHUP reads it again.",
	"GATEHOUSE_TOOLS": "A YAML file with tools of your own: commands and HTTP requests that the agent may call. " +
		"SIGHUP reads it again.",
	"GATEHOUSE_FETCH_HOSTS": "The hosts that http.fetch and the tools of GATEHOUSE_TOOLS may reach, such as " +
		"example.com,*.example.org. One that is listed with its port may have a private address. Not set: none.",
	"GATEHOUSE_CALLBACK_HOSTS": "The hosts that decisions are posted to, where a program that asks over HTTP gives " +
		"a callback_url, such as example.com,*.example.org. One that is listed with its port may have a private " +
		"address, and be reached over http. Not set: none.",
	"GATEHOUSE_MCP_CONFIG": "An mcp.json: the MCP servers whose tools the agent may call, as other clients write " +
		"it. It is read again when it changes, and on SIGHUP.",
	"GATEHOUSE_APPROVAL_TIMEOUT": "How long an approval stays open. 0s: without limit.",
	"GATEHOUSE_WORKERS": "How many turns run at the same time in this process. One that waits for a model costs " +
		"only memory.",
	"GATEHOUSE_TURN_MEMORY": "How much memory requests and turns may hold together, as estimated. What does not fit " +
		"is refused, or waits as a stored message. half: half of the memory limit of the container (cgroup), or " +
		"256MiB without one. 0: no limit.",
	"GATEHOUSE_READ_BEFORE": "How much of what was said in a thread before the bot was asked there it may read, in " +
		"tokens (of about three bytes): the first message, and as many of the newest as fit. 0: nothing.",
	"GATEHOUSE_LEASE": "How soon other processes take over the conversations and posts of a process that died. For " +
		"the shards of a gateway it is three times that, 30s at most.",
	"GATEHOUSE_RATE": "How many messages a minute one person may send. What is above is refused, and said so once " +
		"a minute. 0: no limit, also for the messages of one person that wait (100 otherwise).",
	"GATEHOUSE_DRAIN_TIMEOUT": "How long running turns may continue after the program is told to stop.",
	"GATEHOUSE_RETENTION": "How long ended events, sent posts and decided approvals are kept: 24h or more. 0s: " +
		"without limit.",
	"GATEHOUSE_RETENTION_SESSIONS": "How long sessions are kept after their last word, with their messages, files " +
		"and mail: 24h or more. 0s: without limit.",
	"GATEHOUSE_SNAPSHOTS": "How many copies of a SQLite database from before migrations are kept beside it, for " +
		"gatehouse migrate --back. 0: none is made.",
	"GATEHOUSE_MAX_MESSAGE": "The largest message that is accepted.",
	"GATEHOUSE_FRESHNESS":   "A reply older than this is marked as late when it is sent. 0s: no reply is.",
	"GATEHOUSE_LOG_LEVEL":   "debug, info, warn or error.",
	"GATEHOUSE_LOG_FORMAT":  "text, json, or auto: text on a terminal, json elsewhere.",
	"GATEHOUSE_STREAMING": "Where text is shown as the model writes it: all (everything that can), none, or a list " +
		"of web and console.",
	"GATEHOUSE_REPLIES": "A YAML file that replaces gatehouse's own sentences, and the texts of cards and forms, " +
		"for language and tone.",
	"GATEHOUSE_GREETING_FILE": "A YAML file with what an empty conversation shows on the page and in the terminal: " +
		"greeting, examples and agent_name. Not set: the agent's own.",
	"GATEHOUSE_MODEL": "The model that answers: openai:NAME, anthropic:NAME, or the name of one in " +
		"GATEHOUSE_MODELS. Of several, separated by commas, the next one is asked where one can't answer.",
	"GATEHOUSE_MODELS": "A YAML file of models, each with its vendor, address and key.",
	"GATEHOUSE_MODEL_MAX_TOKENS": "How many tokens one answer may have, with what the model thinks. 0: the model's " +
		"own limit, or 64000 with Anthropic, which needs one.",
	"GATEHOUSE_MODEL_CONTEXT": "How many tokens of a conversation a model is shown, estimated; older exchanges are " +
		"left out. 0: no limit.",
	"GATEHOUSE_MODEL_TIMEOUT": "How long one answer of a model may take. 0s: as long as it goes on; see " +
		"GATEHOUSE_MODEL_SILENCE.",
	"GATEHOUSE_MODEL_SILENCE": "After how long a call of a model is given up if not one byte comes.",
	"GATEHOUSE_RETRY_TIME": "How long the turn of one message may take up with failures, retries and the waits that " +
		"others ask for, in all its attempts. Work that goes on, and a failure of the database, take nothing of it. " +
		"After it the person is told, with a button to try again.",
	"GATEHOUSE_MODEL_CALLS": "How many calls of one model may run at the same time in this process: what the " +
		"vendor or your own server admits. Others wait.",
	"GATEHOUSE_MODEL_TEXT_ONLY": "The model takes no images: it is told that there was one.",
	"GATEHOUSE_TOKENS_PER_TURN": "How many tokens one turn may take. 0: no limit.",
	"GATEHOUSE_TOKENS_PER_DAY": "How many tokens one person may take a day, from midnight to midnight UTC. 0: no " +
		"limit.",
}
