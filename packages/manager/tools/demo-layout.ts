// Renders the layout of the demo proxy's own pages, and two of these pages: the signed-out page and the closed-shop
// page.
import type { Addresses, Door } from './demo-doors.ts'

/** Escapes text for HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export const stylesPath = '/demo.css'

type PageParts = {
  title: string
  /** HTML of the body. */
  content: string
  /** URL path of a script module. */
  script?: string
}

/** Returns a page. */
export const renderPage = ({ title, content, script }: PageParts): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width" />
<meta name="color-scheme" content="light dark" />
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${stylesPath}" />
${script === undefined ? '' : `<script type="module" src="${script}"></script>\n`}</head>
<body>
${content}
</body>
</html>
`

const renderNote = (title: string, paragraphs: string, script?: string): string =>
  renderPage({
    title,
    content: `<main class="note">\n<h1>${escapeHtml(title)}</h1>\n${paragraphs}\n</main>`,
    ...(script === undefined ? {} : { script }),
  })

/** Returns the page that a person sees after signing out. */
export function renderSignedOutPage({ person }: Door, { start }: Addresses): string {
  const name = escapeHtml(person.name)
  return renderNote(
    'You are signed out',
    `<p>${name} has no session at this address any more.</p>
<p class="actions"><a class="button primary" href="/">Sign in as ${name}</a>
<a class="button" href="${start}/">Start page</a></p>`,
  )
}

/**
 * Returns the page for a person whose tenant may not use the application. A script opens the shop as soon as access is
 * granted again.
 */
export function renderClosedPage({ person }: Door, { start }: Addresses): string {
  const name = escapeHtml(person.name)
  return renderNote(
    'The shop is closed for you',
    `<p>${name} is signed in, but the application is switched off for this customer, or ${name} is no longer a member.</p>
<p>Anna can switch it on again in the access matrix. This page then opens the shop.</p>
<p class="actions"><a class="button" href="${start}/">Start page</a></p>`,
    '/examples/shell/closed.mjs',
  )
}
