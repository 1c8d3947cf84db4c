package cli

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Texts are help texts by the names that tags have for them, such as help:"${convert_to}". They are no kong.Vars,
// because kong looks in each variable for others, again for every flag, which takes longer than all else at the start.
type Texts map[string]string

// Apply puts the texts in place of their names.
func (t Texts) Apply(k *kong.Kong) error {
	named := func(help *string) {
		name, braced := strings.CutPrefix(*help, "${")
		if text, known := t[strings.TrimSuffix(name, "}")]; braced && known {
			*help = text
		}
	}
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(v kong.Visitable, next kong.Next) error {
			switch v := v.(type) {
			case *kong.Node:
				named(&v.Help)
			case *kong.Value:
				named(&v.Help)
			}
			return next(nil)
		})
	}).Apply(k)
}
