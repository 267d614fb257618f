// The Content Security Policy of every page: nothing loads from elsewhere, and only scripts of the build run.
import { createHash } from 'node:crypto'

// The theme adds this style for a moment when the colors change.
const withoutTransitions = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='"

const marker = '<meta charset="utf-8">'

/** The texts of the scripts that are not in files. */
const scriptsIn = (html: string): string[] =>
  html
    .split('<script')
    .slice(1)
    .map((rest) => rest.split('</script>')[0] as string)
    .filter((rest) => !rest.slice(0, rest.indexOf('>')).includes(' src='))
    .map((rest) => rest.slice(rest.indexOf('>') + 1))

/** Adds the policy to a page, with the hashes of the scripts in it. */
export function addContentPolicy(html: string): string {
  const hashes = scriptsIn(html).map(
    (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${[...new Set(hashes)].join(' ')}`.trim(),
    `style-src 'self' ${withoutTransitions}`,
    // Highlighted code has its colors in attributes.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  if (!html.includes(marker)) throw new Error('the page has no place for its Content Security Policy')
  return html.replace(
    marker,
    `${marker}\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
  )
}
