// Adds a Content Security Policy to every page. The policy blocks other origins and allows only the scripts
// of the build.
import { createHash } from 'node:crypto'

// The hash of a style that the theme adds briefly when the color scheme changes.
const transitionStyleHash = "'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='"

const marker = '<meta charset="utf-8">'

/** Returns the source code of the inline scripts. */
const listInlineScripts = (html: string): string[] =>
  html
    .split('<script')
    .slice(1)
    .map((rest) => rest.split('</script>')[0] as string)
    .filter((rest) => !rest.slice(0, rest.indexOf('>')).includes(' src='))
    .map((rest) => rest.slice(rest.indexOf('>') + 1))

/** Adds the policy to a page, with the hashes of its inline scripts. */
export function addContentPolicy(html: string): string {
  const hashes = listInlineScripts(html).map(
    (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  )
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${[...new Set(hashes)].join(' ')}`.trim(),
    `style-src 'self' ${transitionStyleHash}`,
    // Syntax highlighting sets colors in style attributes.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  if (!html.includes(marker))
    throw new Error('cannot insert the Content Security Policy: the page has no charset meta tag')
  return html.replace(
    marker,
    `${marker}\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`,
  )
}
