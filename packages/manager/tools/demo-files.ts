// Reads the files that the demo proxy serves: the frontend shell, at its paths in the repository, and the styles of the
// proxy's own pages. The client is written in TypeScript, so its types are stripped for the browser.
import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { extname } from 'node:path'

const root = new URL('../../../', import.meta.url)
const servedPaths =
  /^\/(?:examples\/pilet-loader\.mjs|examples\/shell\/[a-z-]+\.(?:css|mjs)|packages\/client\/src\/(?:generated\/)?[a-z-]+\.ts)$/
const textTypes: Record<string, string> = { '.html': 'html', '.css': 'css' }

/** Returns the file at a path, or the page for `/`. Returns null if the file does not exist or is not served. */
export function readShellFile(path: string): { type: string; content: string } | null {
  const file = new URL(`.${path === '/' ? '/examples/shell/index.html' : path}`, root)
  if ((path !== '/' && !servedPaths.test(path)) || !existsSync(file)) return null
  const [kind, text] = [extname(file.pathname), readFileSync(file, 'utf8')]
  const type = `text/${textTypes[kind] ?? 'javascript'}; charset=utf-8`
  return { type, content: kind === '.ts' ? stripTypeScriptTypes(text) : text }
}

/** Returns the styles of the pages that the proxy renders. */
export const readStyles = (): string => readFileSync(new URL('demo.css', import.meta.url), 'utf8')

/**
 * Headers of every page that the proxy serves. Scripts may come from this host and from blob: URLs, because the loader
 * runs the verified bytes of a pilet from memory.
 */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self' blob:; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
}
