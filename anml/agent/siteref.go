package agent

// SiteRef is a pointer to another site's own document, and what came of
// following it (section 12.6).
type SiteRef struct {
	Domain string
	Page   *Page // nil: the site is unknown
	Err    error // why it is unknown
}
