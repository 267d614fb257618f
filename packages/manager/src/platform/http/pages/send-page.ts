// Pages for browsers: server-rendered HTML in one layout, without scripts. Response headers restrict each
// page, so that injected HTML cannot load or run anything.
import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { type Html, html, readHtmlFile } from './html.ts'

/** The parts that differ between pages. */
export type Page = {
  title: string
  main: Html
  /** Uses the wide layout, for tables. */
  isWide?: true
}

const style = readHtmlFile(new URL('./style.css', import.meta.url))

/** Sends the page with headers that forbid caching, framing and referrers. */
export function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  const nonce = randomBytes(16).toString('base64')
  const contentSecurityPolicy = `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`
  return reply
    .code(status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': contentSecurityPolicy,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    .send(renderLayout(page, nonce).toString())
}

const renderLayout = ({ title, main, isWide }: Page, nonce: string): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <style nonce="${nonce}">
          ${style}
        </style>
      </head>
      <body>
        <main class="${isWide === true ? 'wide' : 'narrow'}">${main}</main>
      </body>
    </html> `
