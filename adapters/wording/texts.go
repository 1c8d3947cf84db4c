package wording

// Texts are what gatehouse says on cards and forms and about presses.
type Texts struct {
	HeadlineApproval  string `default:"🔔 Approval needed"`
	HeadlineDangerous string `default:"⚠️ Approval needed for something dangerous"`
	HeadlineReminder  string `default:"🔔 Reminder: an approval is still needed"`
	HeadlineEscalated string `default:"🔔 Nobody has decided yet: an approval is needed"`
	// somebody wrote a word instead
	HeadlineTyped string `default:"🔔 Only the buttons decide: an approval is needed"`
	// the reader has voted, and others are needed
	HeadlineWaiting   string `default:"⏳ Waiting for others"`
	HeadlineUsed      string `default:"✅ Allowed: an earlier approval is remembered"`
	HeadlineApproved  string `default:"✅ Approved"`
	HeadlineDenied    string `default:"⛔ Denied"`
	HeadlineExpired   string `default:"⌛ Expired: it was not decided in time"`
	HeadlineCancelled string `default:"🚫 Cancelled"`

	HeadlineQuestion          string `default:"❓ Question from the bot"`
	HeadlineQuestionReminder  string `default:"❓ Reminder: a question still waits for an answer"`
	HeadlineAnswered          string `default:"✅ Answered"`
	HeadlineQuestionExpired   string `default:"⌛ Expired: nobody answered in time"`
	HeadlineQuestionCancelled string `default:"🚫 Withdrawn"`

	HeadlineOfSeveral string `default:"{headline} ({place} of {of})"`
	QuestionFor       string `default:", for {people}"` // it follows the headline
	CardLate          string `default:"⏳ This comes late: it could not be sent earlier."`

	LabelTool          string `default:"Tool"`
	LabelAskedBy       string `default:"Asked by"`
	LabelStartedBy     string `default:"Started by"` // of a question: the bot asks
	LabelAsked         string `default:"Asked"`      // when
	LabelMessage       string `default:"Message"`
	LabelExpires       string `default:"Expires"`
	LabelMayDecide     string `default:"May decide"`
	LabelMayAnswer     string `default:"May answer"`
	LabelApprovedSoFar string `default:"Approved so far"`
	LabelDeniedSoFar   string `default:"Denied so far"`
	LabelApprovedBy    string `default:"Approved by"`
	LabelApprovedAt    string `default:"Approved at"`
	LabelDeniedBy      string `default:"Denied by"`
	LabelDeniedAt      string `default:"Denied at"`
	LabelCancelledBy   string `default:"Cancelled by"`
	LabelCancelledAt   string `default:"Cancelled at"`
	LabelExpiredAt     string `default:"Expired at"`
	LabelAnsweredBy    string `default:"Answered by"`
	LabelAnsweredAt    string `default:"Answered at"`
	LabelAnswer        string `default:"Answer"`
	LabelReason        string `default:"Reason"`
	LabelResult        string `default:"Result"`
	LabelArguments     string `default:"Arguments"`
	LabelOptions       string `default:"Options"`
	LabelConversation  string `default:"Conversation"`

	Irreversible     string `default:"This is hard or impossible to undo."`
	CardAltered      string `default:"The stored request is not the one that was asked for. It can't be approved. Deny it, and tell whoever runs gatehouse."`
	HiddenCharacter  string `default:"1 character is hidden, because it looks like a secret."`
	HiddenCharacters string `default:"{count} characters are hidden, because they look like a secret."`
	ReadOnPage       string `default:"An approver can read them on gatehouse's page."`
	LeftOut          string `default:"1 approver could not be sent a direct message."`
	LeftOutSeveral   string `default:"{count} approvers could not be sent a direct message."`
	NoArguments      string `default:"No arguments"`
	ArgumentsFolded  string `default:"The arguments ({count} characters) are not shown here."`
	ArgumentsCut     string `default:"{count} more characters: press Show all arguments"`
	ArgumentsUnshown string `default:"The arguments ({count} characters) are not shown here. To see them: press Show all arguments"`
	ArgumentsUnread  string `default:"{count} more characters are not on the card: read them first."`
	ArgumentsUnseen  string `default:"The card does not show all arguments. Read them first: press Show all arguments."`
	ArgumentsChanged string `default:"Changed by {person}."`
	ArgumentsChanges string `default:"Changed by {person}:"`
	MoreChanges      string `default:"and {count} more"`
	NoValue          string `default:"(none)"` // of an argument, before or after a change
	ChangeDropped    string `default:"{person} had changed the arguments of an earlier request. The rules have changed since, and that change is dropped."`
	RequestChanged   string `default:"The request was changed after it was made:"`

	SameAs            string `default:"The same as the request of {time}, {place} of {of}. Each is decided separately."`
	SameAsLinked      string `default:"The same as the request of {time} ({link}), {place} of {of}. Each is decided separately."`
	DeniedBefore      string `default:"The same was denied by {person} at {time}."`
	DeniedBeforeWhy   string `default:"The same was denied by {person} at {time}: {reason}"`
	LookAlikes        string `default:"Some letters here are from another alphabet and only look familiar: {words}. Check what it really says."`
	LookAlikesCaution string `default:"A word has letters from another alphabet that only look familiar."`

	MemoryOffered string `default:"“{once}” allows this one call. “{remember}” also allows the same call in this conversation for {time}, {times}."`
	MemoryKept    string `default:"It is remembered: the same call is allowed in this conversation until {time}, {times}."`
	MemoryUsed    string `default:"Nobody was asked: an approval of the same call is remembered until {time}, and this is use {place} of {of}."`
	Once          string `default:"once"`
	Times         string `default:"{count} times"`
	OneDay        string `default:"1 day"`
	Days          string `default:"{count} days"`
	OneHour       string `default:"1 hour"`
	Hours         string `default:"{count} hours"`
	OneMinute     string `default:"1 minute"`
	Minutes       string `default:"{count} minutes"`

	CardElsewhere   string `default:"This was asked in another conversation."`
	LastMessages    string `default:"Last messages:"`
	ItsLastMessages string `default:"Its last messages:"`
	SpeakerBot      string `default:"Bot"`
	SpeakerPerson   string `default:"Person"`
	EmptyMessage    string `default:"(empty)"`

	FootApproval string `default:"Approval {id}"`
	FootQuestion string `default:"Question {id}"`
	LineChanged  string `default:"changed by {who}"` // on the one line of a decided card

	CountOf           string `default:"{count} of {of}"`
	MorePeople        string `default:"and {count} more"`
	NotifiedElsewhere string `default:"people who are notified elsewhere"`
	SomebodyElsewhere string `default:"somebody elsewhere"`
	PeopleOr          string `default:"{people} or {last}"`
	PeopleAnd         string `default:"{people} and {last}"`
	OthersDecide      string `default:"You asked for this, and others decide it. See “May decide” on its card."`
	WhoDecides        string `default:"{people} decides."`
	WhoDecidesToo     string `default:"{people} may decide, too"`
	WhoDecidesBoth    string `default:"{people} must both approve."`
	WhoDecidesAll     string `default:"{people} must all approve."`
	WhoDecidesSome    string `default:"{count} of {people} must approve."`
	NumberOne         string `default:"one"`
	NumberTwo         string `default:"two"`
	NumberThree       string `default:"three"`
	NumberFour        string `default:"four"`
	NumberFive        string `default:"five"`
	AnyoneAtMachine   string `default:"anyone at gatehouse's own machine"`
	SomebodyAtMachine string `default:"somebody at gatehouse's own machine"`
	SomebodyOnWeb     string `default:"{name} on the web"`
	Somebody          string `default:"somebody"`
	You               string `default:"you"` // the reader, among those who decided
	AnApprover        string `default:"an approver"`
	ApproverGroup     string `default:"a group of approvers"`

	ResultRunning string `default:"Running"`
	ResultDone    string `default:"Done"`
	ResultFailed  string `default:"Failed"`
	ResultNotRun  string `default:"Not run"`
	ResultUnknown string `default:"Outcome unknown"`
	ResultDoubt   string `default:"It may have been done: check before you ask again."`

	StandingApproved        string `default:"This was approved by {who} at {time}."`
	StandingDenied          string `default:"This was denied by {who} at {time}."`
	StandingAnswered        string `default:"This was answered by {who} at {time}."`
	StandingExpired         string `default:"This approval expired at {time}. Please ask again."`
	StandingQuestionExpired string `default:"This question expired at {time}. Please ask again."`
	StandingCancelled       string `default:"This was cancelled at {time}."`

	ButtonApprove      string `default:"Approve"`
	ButtonApproveOf    string `default:"{approve} ({count} of {of})"`
	ButtonApproveThen  string `default:"{approve} ({count} of {of}; then {people})"`
	ButtonRemember     string `default:"Approve and remember"`
	ButtonForget       string `default:"Stop remembering"`
	ButtonDeny         string `default:"Deny"`
	ButtonEdit         string `default:"Edit"`
	ButtonArguments    string `default:"Show all arguments"`
	ButtonWithdraw     string `default:"Withdraw"`
	ButtonAskAgain     string `default:"Ask again"`
	ButtonAnswer       string `default:"Answer"`
	ButtonConversation string `default:"Open the conversation"`
	ButtonGoBack       string `default:"Go back"`
	ButtonClose        string `default:"Close"`
	ButtonContinue     string `default:"Continue"`
	ButtonReview       string `default:"Review"`
	ButtonReviewFirst  string `default:"Review, then approve"`
	ButtonReveal       string `default:"Show what is hidden"`
	ButtonNotNow       string `default:"Not now"`
	ButtonTryAgain     string `default:"Try again"`
	ButtonStartNew     string `default:"Start a new conversation"`

	ChooseAnswer string `default:"Choose an answer"`
	ChooseOne    string `default:"Choose one"`
	Choose       string `default:"Choose"`

	FormReasonTitle  string `default:"Deny this?"`
	FormReasonSend   string `default:"Deny"`
	FormReasonLabel  string `default:"What should be different?"`
	FormReasonHint   string `default:"The agent and the person who asked will read it."`
	FormConfirmTitle string `default:"Approve this?"`
	FormConfirmSend  string `default:"Approve"`
	FormConfirmLabel string `default:"Type “{word}” to go on"`
	FormConfirmHint  string `default:"Close this form to go back."`

	FormConfirmRememberTitle string `default:"Approve this, and remember it?"`
	FormConfirmRememberSend  string `default:"Approve and remember"`
	FormConfirmRememberLabel string `default:"Type “{word}” to go on"`
	FormConfirmRememberHint  string `default:"Close this form to go back."`

	FormEditTitle      string `default:"Change the arguments"`
	FormEditSend       string `default:"Change"`
	FormEditLabel      string `default:"Arguments (a JSON object)"`
	FormEditHint       string `default:"Approvals given so far will not count any more."`
	FormEditLook       string `default:"See what changes"`
	FormEditDiff       string `default:"What changes"`
	FormEditMore       string `default:"Go on editing"`
	FormEditJson       string `default:"As JSON"`
	FormEditFields     string `default:"As a form"`
	FormEditNumber     string `default:"This must be a number."`
	FormEditNoJson     string `default:"This must be JSON. In {fault}."`
	FormAnswerTitle    string `default:"Answer"`
	FormAnswerSend     string `default:"Send"`
	FormAnswerLabel    string `default:"Your answer"`
	FormPage           string `default:"{title} (page {page} of {pages})"`
	FormOptional       string `default:"(optional)"`
	FormArgumentsTitle string `default:"All arguments"`
	FormArgumentsCut   string `default:"{count} more characters do not fit here."`

	ArgumentsNone     string `default:"Arguments: none"`
	ArgumentsInFile   string `default:"All arguments are in the file."`
	ArgumentsFileCut  string `default:"The file lacks the last {count} characters of the arguments."`
	ArgumentsRevealed string `default:"What was asked, with nothing hidden"`
	RevealRecorded    string `default:"The audit log records who did."`
	ConfirmRead       string `default:"I have read all of this and approve it."`

	InputText      string `default:"A text"`
	InputNumber    string `default:"A number"`
	InputInteger   string `default:"A whole number"`
	InputBetween   string `default:"{input} from {low} to {high}"`
	InputAtLeast   string `default:"{input}, {low} or more"`
	InputAtMost    string `default:"{input}, {high} or less"`
	InputLength    string `default:"{input} of {low} to {high} characters"`
	InputNeeded    string `default:"this is required"`
	InputNotOption string `default:"choose one of the options"`

	AnswerUnfit     string `default:"That is no answer to this question: {fault}."`
	AnswerNotOption string `default:"it is not one of the options"`
	EditSent        string `default:"Your change is sent."`
	EditAgain       string `default:"Press Edit to go on with what you typed."`
	AnswerSent      string `default:"Your answer is sent."`
	AnswerAgain     string `default:"Press Answer to try again."`
	AnswerPage      string `default:"Page {page} of {pages} is filled in. Nothing is answered until the last page is."`
	AnswerLost      string `default:"What you filled in before is gone, so nothing was answered. Press Answer to start again."`

	PageNotSent        string `default:"Nothing has been sent yet. What has to be corrected is marked below."`
	PageNotApproved    string `default:"Nothing is approved yet. Read everything below, then tick the box and approve."`
	PageNotPossible    string `default:"That was not possible, so nothing was decided."`
	PageApprovalStored string `default:"Your approval is stored. It is number {count} of the {of} that are needed."`
	PageDenialStored   string `default:"Your denial is stored. It is number {count} of the {of} that are needed."`
	PageChangeStored   string `default:"Your change is stored. The request waits for an approval of what it says now."`
	PageTitleApproval  string `default:"Approval: {title}"`
	PageTitleQuestion  string `default:"Question: {title}"`
	PageTitleReview    string `default:"Review: {title}"`

	CardGone     string `default:"An approval was requested here. It is no longer stored."`
	DecideOnPage string `default:"To decide, open {page} on gatehouse's pages."`

	PressNotOurs      string `default:"This button or form is not valid any more, so nothing was done. Ask again, or tell an admin."`
	PressOtherVersion string `default:"This button or form belongs to another version of gatehouse, so nothing was done. Ask again."`
	PressUnknown      string `default:"This approval is no longer stored, so nothing was done."`
	PressMisfit       string `default:"This button does not fit the card any more, so nothing was done."`
	PressNoEdit       string `default:"The arguments of this request can't be changed here, so nothing was changed."`
	PressMended       string `default:"Curly quotes were made straight. Nothing has been changed yet: check it again, then send it."`
	PressNotTyped     string `default:"To approve this, type {word}. Nothing was decided."`
	PressUnread       string `default:"This could not be looked up, so nothing was decided. Press again."`
	PressUnstored     string `default:"Your press could not be stored, so nothing was done. Press again."`
	PressStranger     string `default:"Only people in my own workspace can use this button, so nothing was done."`
	PressUnchecked    string `default:"I could not check which workspace you are in. Press again."`
	PressUnopened     string `default:"This could not be opened, so nothing was decided. Press again."`

	TerminalApproval      string `default:"approval>"` // before the lines of a card at the terminal
	TerminalQuestion      string `default:"question>"`
	TerminalWants         string `default:"{tool} wants your approval: {what}"`
	TerminalArguments     string `default:"arguments: {arguments}"`
	TerminalId            string `default:"id {id}"`
	TerminalEnded         string `default:"{ended}: {what}"`
	TerminalApproved      string `default:"approved"`
	TerminalDenied        string `default:"denied"`
	TerminalAnswered      string `default:"answered"`
	TerminalCancelled     string `default:"cancelled"`
	TerminalExpired       string `default:"expired without a decision"`
	TerminalBy            string `default:"by {who}"`
	TerminalAt            string `default:"at {time}"`
	TerminalAnswer        string `default:"answer {words}"`
	TerminalOr            string `default:"{words} or {last}"`
	TerminalWhy           string `default:"n REASON"`
	TerminalAgain         string `default:"to ask for it again, type {word}"`
	TerminalForget        string `default:"to stop that, type {word}"`
	TerminalOneOpen       string `default:"1 approval is open ({ids}). To see it, type {word}"`
	TerminalSeveralOpen   string `default:"{count} approvals are open ({ids}). To see them, type {word}"`
	TerminalWhich         string `default:"{count} approvals are open, so nothing was decided. Type one of these:"`
	TerminalExamples      string `default:"You can say, for example:"`
	TerminalCommands      string `default:"/help lists what else can be typed, /quit leaves."`
	TerminalContinues     string `default:"The conversation {session} goes on. /new starts a new one, /help lists what else can be typed."`
	TerminalWorks         string `default:"Working…"` // before how long, while a turn runs
	TerminalRetries       string `default:"Trying again in {time}"`
	TerminalRuns          string `default:"Running {tool}…"`
	TerminalStillOpen     string `default:"{what} is still open: {asks}"`
	TerminalDecideLater   string `default:"{what} is still open; decide with: {command}"`
	TerminalAnswerLater   string `default:"{what} is still open; answer with: {command}"`
	TerminalFields        string `default:"a form of {count} fields: answer one after the other, or all in one line of JSON"`
	TerminalInput         string `default:"answer with {what}"`
	TerminalText          string `default:"a text"`
	TerminalNumber        string `default:"a number"`
	TerminalInteger       string `default:"a whole number"`
	TerminalYesNo         string `default:"y or n"`
	TerminalPick          string `default:"a number or a title"`
	TerminalPromptText    string `default:"text"`
	TerminalPromptInteger string `default:"number"`
	TerminalPromptYesNo   string `default:"y/n"`
	TerminalPromptNumber  string `default:"number"`
	TerminalLeaveOut      string `default:"{input}, or with {word} to leave it out"`
	TerminalNoneKept      string `default:"No approval that could be stopped is remembered here."`
	TerminalNoneExpired   string `default:"No request here has expired, so there is none to ask for again."`
}
