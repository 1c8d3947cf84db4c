package mask

import (
	"cmp"
	"sync"
	"unicode"
)

// alike are letters that look like a small letter of ASCII, each before the one that it looks like: Cyrillic, Greek,
// Armenian, Latin, Cherokee, Lisu and Coptic ones.
const alike = "аaвbеeкkмmнhоoрpсcтtуyхxѕsіiјjԁdԛqԝwһhѵvӏlпnгrьb" +
	"αaβbεeιiκkνvοoρpτtυuχxγyηnσoωwΝnΗhΥyΖzΜmμu" + "оoոnօoսuհhցgզqյjռn" +
	"ɑaʙbᴄcᴅdɖdᴇeɛeəeꜰfɡgɢgʜhıiɪiɩiᴊjȷjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzǀl" +
	"ᎪaᏼbᏟcᎠdᎬeᏀgᎻhᎥiᎫjᏦkᏞlᎷmᏢpᎡrᏚsᎢtᏙvᏔwᏃz" + "ꓮaꓐbꓚcꓓdꓰeꓝfꓖgꓧhꓲiꓙjꓗkꓡlꓟmꓠnꓳoꓑpꓣrꓢsꓔtꓴuꓦvꓪwꓫxꓬyꓜz" +
	"ⲁaⲉeⲟoⲣpⲛnⲥcⲧtⲕk"

var alikes = sync.OnceValue(func() map[rune]rune {
	all := map[rune]rune{}
	letters := []rune(alike)
	for i := 0; i < len(letters); i += 2 {
		all[letters[i]] = letters[i+1]
	}
	return all
})

// alphabets are the first letters of further alphabets: wide ones, those in brackets, circles and boxes, and of flags.
var alphabets = []rune{0xff21, 0xff41, 0x249c, 0x24b6, 0x24d0, 0x1f110, 0x1f130, 0x1f150, 0x1f170, 0x1f1e6}

// The alphabets of mathematics, one after the other.
const firstOfMath, endOfMath = 0x1d400, 0x1d6a4

// AsASCII returns the small letter of ASCII that a letter of another script or alphabet looks like; 0 if there is none.
func AsASCII(r rune) rune {
	for _, first := range alphabets {
		if first <= r && r < first+26 {
			return 'a' + r - first
		}
	}
	if firstOfMath <= r && r < endOfMath {
		return 'a' + (r-firstOfMath)%26
	}
	all := alikes()
	return cmp.Or(all[r], all[unicode.ToLower(r)])
}

// LookAlike reports whether a name has something invisible in it, or a letter that looks like one of ASCII.
func LookAlike(name string) bool {
	all := []rune(name)
	seen := joined(all)
	for i, r := range all {
		if r > unicode.MaxASCII && (unseen(r) && (seen == nil || !seen[i]) || AsASCII(r) != 0) {
			return true
		}
	}
	return false
}
