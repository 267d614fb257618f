// The files of the frontend shell as a browser gets them, at their paths in the repository. The client is TypeScript: its
// types are stripped on the way.
import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { extname } from 'node:path'

const root = new URL('../../../', import.meta.url)
const served =
  /^\/(?:examples\/pilet-loader\.mjs|examples\/shell\/[a-z-]+\.(?:css|mjs)|packages\/client\/src\/(?:generated\/)?[a-z-]+\.ts)$/
const types: Record<string, string> = { '.html': 'html', '.css': 'css' }

/** A file by its path, and the page at `/`; null when there is none. */
export function shellFile(path: string): { type: string; content: string } | null {
  const file = new URL(`.${path === '/' ? '/examples/shell/index.html' : path}`, root)
  if ((path !== '/' && !served.test(path)) || !existsSync(file)) return null
  const [kind, text] = [extname(file.pathname), readFileSync(file, 'utf8')]
  const type = `text/${types[kind] ?? 'javascript'}; charset=utf-8`
  return { type, content: kind === '.ts' ? stripTypeScriptTypes(text) : text }
}

/**
 * What every page of the proxy is sent with. Scripts come from this host, and from memory: the loader runs the bytes of a
 * pilet that it has verified.
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
